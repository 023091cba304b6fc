"""The instance groups of a request or of DescribeCluster's answer, and their types."""

from collections.abc import Mapping
from typing import Any

KINDS = ("InstanceGroups", "RestrictedInstanceGroups")


def groups_of(whole: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the groups of both kinds."""
    return [group for kind in KINDS for group in whole.get(kind) or ()]


def types_of(group: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the instance types that the nodes of a request's group can have."""
    mixed = (group.get("InstanceRequirements") or {}).get("InstanceTypes") or ()
    return tuple(dict.fromkeys([*([group["InstanceType"]] if "InstanceType" in group else []), *mixed]))
