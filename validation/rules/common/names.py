"""Check the keys of tags, and the names of instance groups."""

from collections.abc import Iterator

from config.entries import numbered, repeated
from config.errors import Problem
from config.model import ClusterConfig
from config.tags import RESERVED
from validation.rules.registry import rule


@rule("reserved-tag-prefix", "tags")
def reserved_tag_prefix(config: ClusterConfig) -> Iterator[Problem]:
    """Tag keys must not start with `aws:` or `hyperpod-cdk:`.

    AWS reserves `aws:`. Tags with `hyperpod-cdk:` record which stack owns a cluster and may delete it.
    """
    for key, value in config.tags.items():
        for reserved in RESERVED:
            if key.lower().startswith(reserved):
                yield Problem(("tags", key), value, f"the prefix {reserved} is reserved", "use another key")


@rule("duplicate-tag-keys", "tags")
def duplicate_tag_keys(config: ClusterConfig) -> Iterator[Problem]:
    """Tag keys must differ in more than case.

    IAM compares tag keys case-insensitively and rejects the cluster's roles: the deployment rolls back.
    """
    # https://docs.aws.amazon.com/IAM/latest/UserGuide/id_tags.html#case-sensitivity
    for key, _, first in repeated((key, key.lower()) for key in config.tags):
        message = f"differs from the tag {first} only in case, which IAM ignores"
        yield Problem(("tags", key), config.tags[key], message, "keep only one")


@rule("unique-group-names", "instance_groups[]")
def unique_group_names(config: ClusterConfig) -> Iterator[Problem]:
    """Group names must be unique.

    HyperPod, the Slurm configuration and later updates identify a group by its name.
    """
    for index, name, first in repeated((index, group.name) for index, group in numbered(config.instance_groups)):
        message = f"already used by instance_groups[{first}]"
        yield Problem(("instance_groups", index, "name"), name, message, "use a unique name")
