"""The HyperPod clusters of the region, and which of them is the file's own."""

from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from cli.aws_errors import unless_absent
from cli.group_members import groups_of
from cli.preflight.account import Account

AT_ONCE = 8


def described(account: Account) -> list[dict[str, Any]]:
    """Return DescribeCluster's answer for every cluster of the region."""
    return account.once(_all)


def _all(account: Account) -> list[dict[str, Any]]:
    names = [each["ClusterName"] for each in account.all("sagemaker", "list_clusters", "ClusterSummaries")]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [each for each in pool.map(lambda name: _described(account, name), names) if each]


def _described(account: Account, name: str) -> dict[str, Any] | None:
    """Return the cluster, or None if it was deleted since it was listed."""
    found: dict[str, Any] | None = unless_absent(lambda: account.client("sagemaker").describe_cluster(ClusterName=name))
    return found


def has_own_name(account: Account, cluster: dict[str, Any]) -> bool:
    """Return whether the deployment owns or would adopt this cluster."""
    return cluster["ClusterName"] in (account.config.cluster_name, account.output("ClusterName"))


def instances(clusters: Iterable[dict[str, Any]], *, spot: bool) -> Counter[str]:
    """Return the number of instances by type that the clusters have or will have, on demand or spot."""
    counts: Counter[str] = Counter()
    for cluster in clusters:
        for group in groups_of(cluster):
            if ("Spot" in (group.get("CapacityRequirements") or {})) is spot:
                counts += _coming(group)
    return counts


def running(group: dict[str, Any]) -> Counter[str]:
    """Return the group's current number of nodes by type."""
    if details := group.get("InstanceTypeDetails"):
        return Counter({each["InstanceType"]: each.get("CurrentCount", 0) for each in details})
    return Counter({group.get("InstanceType", ""): group.get("CurrentCount", 0)})


def _coming(group: dict[str, Any]) -> Counter[str]:
    """Return the same with future nodes; in a group of several types, their type is unknown."""
    now = running(group)
    return Counter({name: max(count, group.get("TargetCount", 0)) for name, count in now.items()}) if len(now) == 1 else now
