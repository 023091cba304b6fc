"""Check that no change replaces a cluster on EKS: HyperPod allows one per EKS cluster, so the new one cannot be created first."""

from collections.abc import Iterator

from cli.desired_cluster import deployed_properties, desired_cluster
from cli.errors import UnreachableError
from cli.ownership import cluster_named, has_own
from cli.preflight.account import Account
from cli.preflight.check_result import CheckResult, error, ok, skipped, warning
from cli.resource_code import ClusterApi, replacement_on_eks


def cluster_replacement(account: Account) -> Iterator[CheckResult]:
    """Check that a deployment updates the cluster in place."""
    if account.config.eks is None:
        yield skipped("the cluster uses Slurm")
        return
    api, name = ClusterApi(account.client("sagemaker")), account.output("ClusterName")
    cluster = cluster_named(api, name) if name else None
    if cluster is None or not has_own(account.deployment, cluster):
        yield skipped("no cluster of this file exists")
        return
    deployed = deployed_properties(account.deployment) or {}
    network = account.config.network
    if network.existing is None and deployed.get("NetworkIdentity") != network.identity:
        yield error(
            "the changed `network` replaces the VPC or subnet, and EKS and HyperPod clusters cannot change theirs",
            f"undo the change, or run `cdk destroy '{account.config.name}/*'`, then deploy",
        )
        return
    try:
        desired = desired_cluster(account.deployment, cluster, api)
    except UnreachableError as failure:
        yield warning(str(failure))
        return
    refused = replacement_on_eks(desired, cluster)
    yield error(*refused.split("; ", 1)) if refused else ok(f"a deployment updates {cluster.name} in place")
