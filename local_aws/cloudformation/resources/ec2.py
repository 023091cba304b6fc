"""EC2: tags, which all its resources share."""

from typing import Any

from local_aws.cloudformation.resources.provider import Context, tag_changes
from local_aws.cloudformation.template import Json


def tag_specification(context: Context, kind: str, properties: Json) -> list[dict[str, Any]]:
    """Return the tags of a new resource in the form of EC2's calls."""
    tags = context.tags(properties)
    return [{"ResourceType": kind, "Tags": tags}] if tags else []


def retag(context: Context, resource_id: str, properties: Json, before: Json) -> None:
    """Set the new tags of an EC2 resource and remove the old ones."""
    added, removed = tag_changes(properties, before)
    if removed:
        context.client("ec2").delete_tags(Resources=[resource_id], Tags=[{"Key": key} for key in removed])
    if added:
        context.client("ec2").create_tags(Resources=[resource_id], Tags=added)
