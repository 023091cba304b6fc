"""The HyperPod clusters that the region has already, and which of them is the file's own."""

from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from botocore.exceptions import ClientError

from ops.preflight.account import Account

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


def is_own(account: Account, cluster: dict[str, Any]) -> bool:
    """Whether the deployment would have this cluster, and not one beside it."""
    return cluster["ClusterName"] in (account.config.cluster_name, account.output("ClusterName"))


def instances(clusters: Iterable[dict[str, Any]], *, spot: bool) -> Counter[str]:
    """How many instances of each type the clusters have or are about to have, on demand or spot."""
    counts: Counter[str] = Counter()
    for cluster in clusters:
        for group in [*(cluster.get("InstanceGroups") or []), *(cluster.get("RestrictedInstanceGroups") or [])]:
            if ("Spot" in (group.get("CapacityRequirements") or {})) is spot:
                counts += _instances(group)
    return counts


def _instances(group: dict[str, Any]) -> Counter[str]:
    if group.get("InstanceTypeDetails"):
        return Counter({each["InstanceType"]: each.get("CurrentCount", 0) for each in group["InstanceTypeDetails"]})
    return Counter({group.get("InstanceType", ""): max(group.get("CurrentCount", 0), group.get("TargetCount", 0))})
