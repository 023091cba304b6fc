"""Check tags and reserved members of `overrides`."""

from collections.abc import Iterator

from cluster_request.request import RESERVED_CLUSTER_MEMBERS, RESERVED_GROUP_MEMBERS
from config.errors import Problem
from config.model import ClusterConfig
from config.tags import RESERVED
from validation.entries import numbered
from validation.rules.registry import rule


@rule("reserved-tag-prefix", "tags")
def reserved_tag_prefix(config: ClusterConfig) -> Iterator[Problem]:
    """Tag keys must not start with `aws:` or `hyperpod-cdk:`.

    AWS reserves `aws:`. Tags with `hyperpod-cdk:` record which stack owns a cluster and may delete it.
    """
    for key, value in config.tags.items():
        for reserved in RESERVED:
            if key.lower().startswith(reserved):
                yield Problem(("tags", key), value, f"the prefix {reserved} is reserved; use another key")


@rule("duplicate-tag-keys", "tags")
def duplicate_tag_keys(config: ClusterConfig) -> Iterator[Problem]:
    """Tag keys must differ in more than case.

    IAM compares tag keys case-insensitively and rejects the cluster's roles: the deployment rolls back.
    """
    # https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags.html#case-sensitivity
    first: dict[str, str] = {}
    for key, value in config.tags.items():
        if first.setdefault(key.lower(), key) != key:
            yield Problem(
                ("tags", key), value, f"differs from the tag {first[key.lower()]} only in case, which IAM ignores; keep only one"
            )


@rule("reserved-cluster-overrides", "overrides")
def reserved_cluster_overrides(config: ClusterConfig) -> Iterator[Problem]:
    """The cluster's `overrides` must not set ClusterName, InstanceGroups or Tags.

    Names, ownership and the Slurm configuration are derived from the corresponding fields.
    """
    for member, field in RESERVED_CLUSTER_MEMBERS.items():
        if member in config.overrides:
            yield Problem(("overrides", member), config.overrides[member], f"cannot be overridden; set `{field}` instead")


@rule("reserved-group-overrides", "instance_groups[]")
def reserved_group_overrides(config: ClusterConfig) -> Iterator[Problem]:
    """A group's `overrides` must not set InstanceGroupName or InstanceCount.

    The Slurm configuration and the wait for nodes are derived from the corresponding fields.
    """
    for index, group in numbered(config.instance_groups):
        for member, field in RESERVED_GROUP_MEMBERS.items():
            if member in group.overrides:
                path = ("instance_groups", index, "overrides", member)
                yield Problem(path, group.overrides[member], f"cannot be overridden; set `{field}` instead")
