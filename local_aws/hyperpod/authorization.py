"""Find the cluster of a call, and check the caller's permission."""

from local_aws import json_service
from local_aws.errors import AwsError
from local_aws.hyperpod.model import Cluster, find
from local_aws.json_service import Call, Context


def tag_context(tags: dict[str, str], kind: str) -> Context:
    """Return condition keys for tags: ``kind`` is `aws:RequestTag` or `aws:ResourceTag`."""
    own = {f"sagemaker:ResourceTag/{key}": value for key, value in tags.items()} if kind == "aws:ResourceTag" else {}
    return json_service.tag_context(tags, kind) | own


def named_cluster(call: Call, context: Context | None = None) -> Cluster:
    """Return the cluster of the call's ClusterName, if the caller may perform the operation on it.

    A missing cluster has no tags: a caller whose permissions depend on tags gets access denied instead of not found.
    """
    return cluster_named(call, call.request["ClusterName"], context)


def cluster_named(call: Call, name: str, context: Context | None = None) -> Cluster:
    """Return the cluster with this name or ARN, if the caller may perform the operation on it."""
    cluster = find(call, name)
    arn = cluster.arn if cluster else call.arn("sagemaker", "cluster/*")
    tags = tag_context(cluster.tags, "aws:ResourceTag") if cluster else {}
    call.authorize(f"sagemaker:{call.operation}", arn, {**tags, **(context or {})})
    if cluster is None:
        raise missing(name)
    return cluster


def missing(name: str) -> AwsError:
    """Return the error for a cluster that does not exist."""
    return AwsError("ResourceNotFound", f"Cluster with name {name} not found.")
