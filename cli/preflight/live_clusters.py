"""The HyperPod clusters that the region has already, and which of them is the file's own."""

from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from botocore.exceptions import ClientError

from cli.group_members import groups_of
from cli.preflight.account import Account

AT_ONCE = 8
GONE = "ResourceNotFound"


def described(account: Account) -> list[dict[str, Any]]:
    """What DescribeCluster says of every cluster of the region."""
    return account.once(_all)


def _all(account: Account) -> list[dict[str, Any]]:
    names = [each["ClusterName"] for each in account.all("sagemaker", "list_clusters", "ClusterSummaries")]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [each for each in pool.map(lambda name: _described(account, name), names) if each]


def _described(account: Account, name: str) -> dict[str, Any] | None:
    """The cluster, or None if it went between the two questions."""
    try:
        found: dict[str, Any] = account.client("sagemaker").describe_cluster(ClusterName=name)
    except ClientError as failure:
        if failure.response["Error"]["Code"].startswith(GONE):
            return None
        raise
    return found


def has_own_name(account: Account, cluster: dict[str, Any]) -> bool:
    """Whether the deployment would have this cluster, and not one beside it."""
    return cluster["ClusterName"] in (account.config.cluster_name, account.output("ClusterName"))


def instances(clusters: Iterable[dict[str, Any]], *, spot: bool) -> Counter[str]:
    """How many instances of each type the clusters have or are about to have, on demand or spot."""
    counts: Counter[str] = Counter()
    for cluster in clusters:
        for group in groups_of(cluster):
            if ("Spot" in (group.get("CapacityRequirements") or {})) is spot:
                counts += _coming(group)
    return counts


def running(group: dict[str, Any]) -> Counter[str]:
    """How many nodes of each type the group has now."""
    if details := group.get("InstanceTypeDetails"):
        return Counter({each["InstanceType"]: each.get("CurrentCount", 0) for each in details})
    return Counter({group.get("InstanceType", ""): group.get("CurrentCount", 0)})


def _coming(group: dict[str, Any]) -> Counter[str]:
    """The same with those that it is to have; of a group of several types, nobody knows of which these will be."""
    now = running(group)
    return Counter({name: max(count, group.get("TargetCount", 0)) for name, count in now.items()}) if len(now) == 1 else now
