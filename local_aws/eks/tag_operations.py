"""Tags of clusters and their parts."""

from collections.abc import Callable
from dataclasses import replace

from local_aws.eks.authorization import authorize
from local_aws.eks.errors import not_found
from local_aws.eks.model import Addon, Association, Cluster, clusters
from local_aws.json_service import Call, Json, Operation

Tags = dict[str, str]


def _change(call: Call, change: Callable[[Tags], Tags]) -> Tags:
    """Replace the tags of the call's resource by their ``change``, if the caller may."""
    arn = call.request["resourceArn"]
    for cluster in clusters(call):
        parts: list[Cluster | Addon | Association] = [cluster, *cluster.addons.values(), *cluster.associations.values()]
        for part in parts:
            if part.arn == arn:
                authorize(call, arn, part.tags)
                part.tags = change(part.tags)
                return part.tags
        for entry in cluster.entries.values():
            if entry.arn == arn:
                authorize(call, arn, entry.tags)
                cluster.entries[entry.principal_arn] = replace(entry, tags=change(dict(entry.tags)))
                return dict(cluster.entries[entry.principal_arn].tags)
    authorize(call, arn, {})
    raise not_found(f"The requested resource does not exist: {arn}")


def tag_resource(call: Call) -> Json:
    """Add or change tags."""
    _change(call, lambda tags: {**tags, **call.request["tags"]})
    return {}


def untag_resource(call: Call) -> Json:
    """Remove tags; ignore unknown keys."""
    _change(call, lambda tags: {key: value for key, value in tags.items() if key not in call.request["tagKeys"]})
    return {}


def list_tags_for_resource(call: Call) -> Json:
    """Return the resource's tags."""
    return {"tags": _change(call, dict)}


OPERATIONS: dict[str, Operation] = {
    "TagResource": tag_resource,
    "UntagResource": untag_resource,
    "ListTagsForResource": list_tags_for_resource,
}
