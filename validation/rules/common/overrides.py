"""Check what `overrides` must not set."""

from collections.abc import Iterator

from cluster_request.request import RESERVED_CLUSTER_MEMBERS, RESERVED_GROUP_MEMBERS
from cluster_request.request_fields import group_fields
from config.entries import numbered
from config.errors import Level, Problem
from config.model import ClusterConfig
from validation.rules.registry import rule


@rule("reserved-cluster-overrides", "overrides")
def reserved_cluster_overrides(config: ClusterConfig) -> Iterator[Problem]:
    """The cluster's `overrides` must not set ClusterName, InstanceGroups or Tags.

    Names, ownership and the Slurm configuration are derived from the corresponding fields.
    """
    for member, field in RESERVED_CLUSTER_MEMBERS.items():
        if member in config.overrides:
            yield Problem(("overrides", member), config.overrides[member], "cannot be overridden", f"set `{field}` instead")


@rule("reserved-group-overrides", "instance_groups[]")
def reserved_group_overrides(config: ClusterConfig) -> Iterator[Problem]:
    """A group's `overrides` must not set InstanceGroupName or InstanceCount.

    The Slurm configuration and the wait for nodes are derived from the corresponding fields.
    """
    for index, group in numbered(config.instance_groups):
        for member, field in RESERVED_GROUP_MEMBERS.items():
            if member in group.overrides:
                path = ("instance_groups", index, "overrides", member)
                yield Problem(path, group.overrides[member], "cannot be overridden", f"set `{field}` instead")


@rule("override-replaces-field", "instance_groups[]", level=Level.WARNING)
def override_replaces_field(config: ClusterConfig) -> Iterator[Problem]:
    """A group's `overrides` must not replace a field that the file sets for the same group.

    The override wins, so the field is misleading.
    """
    for index, group in numbered(config.instance_groups):
        for name, field in group_fields().items():
            is_given = name not in RESERVED_GROUP_MEMBERS and field in group.model_fields_set
            if is_given and group.overrides.get(name) is not None:
                message = f"overrides `{field}: {_short(getattr(group, field))}` of the same group"
                yield Problem(("instance_groups", index, "overrides", name), group.overrides[name], message, "keep only one")


def _short(value: object) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)
