"""Check that the deployment would not refuse a change of the cluster, and that none replaces a cluster on EKS.

HyperPod allows one cluster per EKS cluster, so the new one cannot be created first.
"""

from collections.abc import Iterator

from cli.desired_cluster import MADE, deployed_properties, deployed_request, desired_cluster
from cli.errors import UnreachableError
from cli.ownership import cluster_named, has_own
from cli.preflight.account import Account
from cli.preflight.check import CheckResult, error, ok, skipped, warning
from cli.resource_code import ClusterApi, refusal, replacement_on_eks


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
