"""Rules about tags and about what `overrides` may hold."""

from collections.abc import Iterator

from cluster_request.request import NOT_OVERRIDDEN, NOT_OVERRIDDEN_IN_A_GROUP
from config.errors import Problem
from config.model import ClusterConfig
from config.tags import RESERVED
from validation.entries import numbered
from validation.rules.registry import rule


@rule("own-tags", "tags")
def own_tags(config: ClusterConfig) -> Iterator[Problem]:
    """Tags do not begin with `aws:`, which AWS keeps for itself, nor with `hyperpod-cdk:`, which marks whose a cluster is.

    AWS refuses the one kind, and by the other the deployment tells which stack a cluster belongs to, and so which it may
    delete.
    """
    for key, value in config.tags.items():
        for reserved in RESERVED:
            if key.lower().startswith(reserved):
                yield Problem(("tags", key), value, f"names that begin with {reserved} are reserved; choose another one")


@rule("tags-apart-without-their-case", "tags")
def tags_apart_without_their_case(config: ClusterConfig) -> Iterator[Problem]:
    """No two tags differ in upper and lower case alone.

    IAM takes them for one on a role, and refuses the roles of this cluster: the deployment rolls back.
    """
    # https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags.html#case-sensitivity
    first: dict[str, str] = {}
    for key, value in config.tags.items():
        if first.setdefault(key.lower(), key) != key:
            yield Problem(("tags", key), value, f"IAM takes it for the tag {first[key.lower()]}; keep one of the two")


@rule("overrides-of-the-cluster", "overrides")
def overrides_of_the_cluster(config: ClusterConfig) -> Iterator[Problem]:
    """The cluster's `overrides` leave ClusterName, InstanceGroups and Tags to the fields that set them.

    Ownership, names and Slurm's settings are made from those fields; a request that differs from them fits none of that.
    """
    for member, field in NOT_OVERRIDDEN.items():
        if member in config.overrides:
            yield Problem(("overrides", member), config.overrides[member], f"cannot be overridden; set `{field}` instead")


@rule("overrides-of-groups", "instance_groups[]")
def overrides_of_groups(config: ClusterConfig) -> Iterator[Problem]:
    """A group's `overrides` leave InstanceGroupName and InstanceCount to the fields that set them.

    Slurm's settings and the wait for nodes are made from those fields; a request that differs from them fits neither.
    """
    for index, group in numbered(config.instance_groups):
        for member, field in NOT_OVERRIDDEN_IN_A_GROUP.items():
            if member in group.overrides:
                path = ("instance_groups", index, "overrides", member)
                yield Problem(path, group.overrides[member], f"cannot be overridden; set `{field}` instead")
