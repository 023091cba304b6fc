"""Finding the cluster that a call is about, with the caller's right to it checked."""

from local_aws.errors import AwsError
from local_aws.hyperpod.model import Cluster, find
from local_aws.json_service import Call, Context


def tag_context(tags: dict[str, str], kind: str) -> Context:
    """Condition keys for tags: ``kind`` is `aws:RequestTag` or `aws:ResourceTag`."""
    context: Context = {f"{kind}/{key}": value for key, value in tags.items()}
    if kind == "aws:RequestTag" and tags:
        context["aws:TagKeys"] = list(tags)
    if kind == "aws:ResourceTag":
        context |= {f"sagemaker:ResourceTag/{key}": value for key, value in tags.items()}
    return context


def named_cluster(call: Call, context: Context | None = None) -> Cluster:
    """The cluster of the call's ClusterName, if the caller may do the call's operation to it.

    A cluster that does not exist has no tags: a caller whose rights depend on them is denied, not told that it is missing.
    """
    name = call.request["ClusterName"]
    cluster = find(call, name)
    arn = cluster.arn if cluster else call.arn("sagemaker", "cluster/*")
    tags = tag_context(cluster.tags, "aws:ResourceTag") if cluster else {}
    call.authorize(f"sagemaker:{call.operation}", arn, {**tags, **(context or {})})
    if cluster is None:
        raise AwsError("ResourceNotFound", f"Cluster with name {name} not found.")
    return cluster
