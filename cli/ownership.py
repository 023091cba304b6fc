"""Ownership of a cluster: the file's own stack, another stack, or none."""

from typing import Any

from cli.aws_errors import not_aws
from cli.deployment import Deployment
from cli.resource_code import ApiError, Cluster, ClusterApi, Owner

OURS = "Custom::HyperPodCluster"
GONE = ("DELETE_COMPLETE", "DELETE_SKIPPED")
TO_BE_MADE = ("CREATE_FAILED", "CREATE_IN_PROGRESS")

_LET_GO = "release it first: deploy `removal: retain`, run `cdk destroy`, and adopt it with another file (docs/change/adopt.md)"


def cluster_named(api: ClusterApi, name: str) -> Cluster | None:
    """Return the cluster with this name, or None; raise botocore's error if AWS refuses."""
    try:
        found: Cluster | None = api.cluster(name, is_deletion=False)
    except ApiError as error:
        raise error.__cause__ or error from None
    except KeyError as error:  # the response of DescribeCluster lacks a required field
        raise not_aws(f"cannot describe cluster {name}") from error
    return found


def whose(cluster: Cluster) -> str:
    """Return the cluster's owner as part of a sentence."""
    return f"belongs to {cluster.owner}" if cluster.owner else "has no owner"


def resources(deployment: Deployment, *kinds: str) -> list[dict[str, Any]]:
    """Return the resources of these types in the file's Cluster stack; empty without a stack."""
    return [each for each in _all(deployment) if each["ResourceType"] in kinds and each["ResourceStatus"] not in GONE]


def own_owner(deployment: Deployment, cluster: Cluster) -> Owner | None:
    """Return the resource of the file's stack that owns the cluster, or owned it until it left; None without a stack."""
    for each in resources(deployment, OURS):
        return _owner(each)
    stacks = {each["StackId"] for each in _all(deployment)}
    return cluster.owner if cluster.owner and cluster.owner.stack_id in stacks else None


def has_own(deployment: Deployment, cluster: Cluster) -> bool:
    """Return whether the file's stack owns the cluster already."""
    return any(_is_own(each, cluster) and each["ResourceStatus"] not in TO_BE_MADE for each in resources(deployment, OURS))


def obstacle(deployment: Deployment, cluster: Cluster) -> str:
    """Return why a deployment would not adopt the cluster; empty if it would, or owns it."""
    for each in resources(deployment, OURS):
        if each["ResourceStatus"] not in TO_BE_MADE and not _is_own(each, cluster):
            owned = each["PhysicalResourceId"]
            why = "does not restore its lost ownership tags" if owned == cluster.name else "adopts no other cluster"
            return f"its stack already owns cluster {owned}, and an update {why}; {_LET_GO}"
    return ""


def _all(deployment: Deployment) -> list[dict[str, Any]]:
    return deployment.resources("Cluster") if any(stack.name.endswith("-Cluster") for stack in deployment.read_stacks()) else []


def _owner(resource: dict[str, Any]) -> Owner:
    return Owner(resource["StackId"], resource["LogicalResourceId"])


def _is_own(resource: dict[str, Any], cluster: Cluster) -> bool:
    return cluster.owner == _owner(resource)
