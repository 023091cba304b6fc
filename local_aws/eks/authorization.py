"""Find the cluster or its part of a call, and check the caller's permission."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from local_aws.eks.model import AccessEntry, Addon, Association, Cluster, find, require
from local_aws.json_service import Call, Json, tag_context

_Part = TypeVar("_Part", AccessEntry, Addon, Association)


def request_tags(request: Json) -> dict[str, str]:
    """Return the request's tags."""
    return dict(request.get("tags") or {})


def named_cluster(call: Call) -> Cluster:
    """Return the cluster that the call names, if the caller may perform the operation on it.

    A missing cluster has no tags: a caller whose permissions depend on tags gets access denied instead of not found.
    """
    name = call.request.get("clusterName") or call.request["name"]
    cluster = find(call, name)
    authorize(call, call.arn("eks", f"cluster/{name}"), cluster.tags if cluster else {})
    return require(call, name)


def named_part(call: Call, kind: str, part_of: Callable[[Cluster], _Part | None]) -> tuple[Cluster, _Part | None]:
    """Return the cluster and its part that the call names, if the caller may perform the operation on the part.

    https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonelastickubernetesservice.html
    """
    name = call.request["clusterName"]
    cluster = find(call, name)
    part = part_of(cluster) if cluster else None
    authorize(call, part.arn if part else call.arn("eks", f"{kind}/{name}/*"), part.tags if part else {})
    return require(call, name), part


def authorize(call: Call, arn: str, tags: Mapping[str, str]) -> None:
    """Check the permission for an operation on a resource with these tags."""
    context = tag_context(tags, "aws:ResourceTag") | tag_context(request_tags(call.request), "aws:RequestTag")
    call.authorize(f"eks:{call.operation}", arn, context)
