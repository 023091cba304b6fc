"""Check the cluster's name."""

from collections.abc import Iterator

from cli.ownership import cluster_named, has_own, obstacle, whose
from cli.preflight.account import Account
from cli.preflight.check import CheckResult, error, ok, skipped, warning
from cli.resource_code import Cluster, ClusterApi

BUSY = ("Creating", "Updating", "SystemUpdating", "RollingBack", "Deleting")


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
