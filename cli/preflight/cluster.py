"""Check the cluster's name and its changes; the HyperPod clusters of the region."""

from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from cli.aws_errors import unless_absent
from cli.counted import counted
from cli.desired_cluster import MADE, deployed_properties, deployed_request, desired_cluster
from cli.errors import UnreachableError
from cli.group_members import groups_of
from cli.moved_nodes import FIX, moved_nodes
from cli.ownership import cluster_named, has_own, obstacle, whose
from cli.preflight.account import Account, Json
from cli.preflight.check import CheckResult, error, ok, skipped, warning
from cli.resource_code import Cluster, ClusterApi, Desired, plan, refusal, replacement_on_eks

BUSY = ("Creating", "Updating", "SystemUpdating", "RollingBack", "Deleting")
AT_ONCE = 8


def cluster_name(account: Account) -> Iterator[CheckResult]:
    """Check that no other cluster has the file's `cluster_name`, and that the file's own cluster is not busy."""
    name = account.config.cluster_name or account.output("ClusterName")
    if name is None:
        yield skipped("the file has no cluster_name, so a unique name is generated")
        return
    cluster = cluster_named(ClusterApi(account.client("sagemaker")), name)
    if cluster is None:
        yield ok(f"no cluster {name} exists")
    elif has_own(account, cluster) or account.output("ClusterName") == name:
        yield from _own(account, cluster)
    else:
        yield _others(account, cluster)


def _own(account: Account, cluster: Cluster) -> Iterator[CheckResult]:
    if cluster.status in BUSY:
        yield warning(
            f"{cluster.name} belongs to this file and is {cluster.status}",
            f"wait: `{account.hpod('status')}` shows when it is done",
        )
    else:
        yield ok(f"{cluster.name} belongs to this file and is {cluster.status}")


def _others(account: Account, cluster: Cluster) -> CheckResult:
    message = f"cluster {cluster.name} already exists: {cluster.arn} is {cluster.status} and {whose(cluster)}"
    look = f"`{account.hpod('adopt')}` previews its adoption"
    why = obstacle(account, cluster)
    if account.config.adopt and not why and cluster.owner is None:
        return warning(f"{message}; `adopt: true` adopts it", look)
    free = "choose another `cluster_name`" + ("" if cluster.owner else f", or adopt it: {look}")
    return error(f"{message}{f'; {why}' if why and account.config.adopt else ''}", free)


def cluster_replacement(account: Account) -> Iterator[CheckResult]:
    """Check that a deployment updates the cluster in place."""
    api, name = ClusterApi(account.client("sagemaker")), account.output("ClusterName")
    cluster = cluster_named(api, name) if name else None
    if cluster is None or not has_own(account, cluster):
        yield skipped("no cluster of this file exists")
        return
    deployed = deployed_properties(account) or {}
    network = account.config.network
    if account.config.eks and network.existing is None and deployed.get("NetworkIdentity") != network.identity:
        yield error(
            "the changed `network` replaces the VPC or subnet, and EKS and HyperPod clusters cannot change theirs",
            f"undo the change, or run `cdk destroy '{account.config.name}/*'`, then deploy",
        )
        return
    try:
        desired = desired_cluster(account, cluster, api, deployed_request(account))
    except UnreachableError as failure:
        yield warning(failure.message, failure.fix)
        return
    # What only the deployment knows cannot be compared.
    refused = (replacement_on_eks(desired, cluster) if account.config.eks else "") or refusal(desired, cluster)
    refused = "" if MADE in refused else refused
    yield error(*refused.split("; ", 1)) if refused else ok(f"a deployment updates {cluster.name} in place")
    yield from () if refused else _moves_undone(desired, cluster)


def _moves_undone(desired: Desired, cluster: Cluster) -> Iterator[CheckResult]:
    """Warn if a deployment sets the count of a group whose nodes were probably moved."""
    counts, moved = plan(desired, cluster, {}).targets, moved_nodes(desired, cluster)
    changes = [
        f"{group.name} from {counted(group.target, 'node')} to {counts[group.name]}"
        for group in cluster.groups
        if group.name in moved and counts.get(group.name, group.target) != group.target
    ]
    if changes:
        messages = "; ".join(dict.fromkeys(moved.values()))
        yield warning(f"{messages} The deployment changes {', '.join(changes)}: it launches or terminates instances", FIX)


def described(account: Account) -> list[Json]:
    """Return DescribeCluster's answer for every cluster of the region."""
    return account.once(_all)


def _all(account: Account) -> list[Json]:
    names = [each["ClusterName"] for each in account.all("sagemaker", "list_clusters", "ClusterSummaries")]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return [each for each in pool.map(lambda name: _described(account, name), names) if each]


def _described(account: Account, name: str) -> Json | None:
    """Return the cluster, or None if it was deleted since it was listed."""
    found: Json | None = unless_absent(lambda: account.client("sagemaker").describe_cluster(ClusterName=name))
    return found


def other_clusters(account: Account) -> list[Json]:
    """Return the clusters of the region that the deployment does not own and would not adopt."""
    return [each for each in described(account) if not _has_own_name(account, each)]


def own_groups(account: Account) -> list[Json]:
    """Return the groups of the cluster that the deployment owns or would adopt."""
    return [group for each in described(account) if _has_own_name(account, each) for group in groups_of(each)]


def _has_own_name(account: Account, cluster: Json) -> bool:
    return cluster["ClusterName"] in (account.config.cluster_name, account.output("ClusterName"))


def instances(clusters: Iterable[Json], *, spot: bool) -> Counter[str]:
    """Return the number of instances by type that the clusters have or will have, on demand or spot."""
    groups = (group for cluster in clusters for group in groups_of(cluster))
    some = (_coming(group) for group in groups if ("Spot" in (group.get("CapacityRequirements") or {})) is spot)
    return sum(some, Counter[str]())


def running(group: Json) -> Counter[str]:
    """Return the group's current number of nodes by type."""
    if details := group.get("InstanceTypeDetails"):
        return Counter({each["InstanceType"]: each.get("CurrentCount", 0) for each in details})
    return Counter({group.get("InstanceType", ""): group.get("CurrentCount", 0)})


def _coming(group: Json) -> Counter[str]:
    """Return the same with future nodes; in a group of several types, their type is unknown."""
    now = running(group)
    return Counter({name: max(count, group.get("TargetCount", 0)) for name, count in now.items()}) if len(now) == 1 else now
