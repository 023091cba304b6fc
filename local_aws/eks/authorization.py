"""Find the cluster of a call, and check the caller's permission."""

from local_aws.eks.model import Cluster, find, require
from local_aws.json_service import Call, Context, Json


def tag_context(tags: dict[str, str], kind: str) -> Context:
    """Return condition keys for tags: ``kind`` is `aws:RequestTag` or `aws:ResourceTag`."""
    context: Context = {f"{kind}/{key}": value for key, value in tags.items()}
    if kind == "aws:RequestTag" and tags:
        context["aws:TagKeys"] = list(tags)
    return context


def request_tags(request: Json) -> dict[str, str]:
    """Return the request's tags."""
    return dict(request.get("tags") or {})


def named_cluster(call: Call, arn: str | None = None) -> Cluster:
    """Return the cluster that the call names, if the caller may perform the operation on ``arn``: by default the cluster.

    A missing cluster has no tags: a caller whose permissions depend on tags gets access denied instead of not found.
    """
    name = call.request.get("clusterName") or call.request["name"]
    cluster = find(call, name)
    context = tag_context(request_tags(call.request), "aws:RequestTag")
    if cluster and arn is None:
        context |= tag_context(cluster.tags, "aws:ResourceTag")
    call.authorize(f"eks:{call.operation}", arn or call.arn("eks", f"cluster/{name}"), context)
    return require(call, name)
