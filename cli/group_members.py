"""The instance groups of a request or of DescribeCluster's answer."""

from collections.abc import Mapping
from typing import Any

KINDS = ("InstanceGroups", "RestrictedInstanceGroups")


def groups_of(whole: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the groups of both kinds."""
    return [group for kind in KINDS for group in whole.get(kind) or ()]
