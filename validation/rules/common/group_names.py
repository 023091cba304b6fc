"""Check the names of instance groups."""

from collections.abc import Iterator

from config.entries import numbered
from config.errors import Problem
from config.model import ClusterConfig
from validation.rules.registry import rule


@rule("unique-group-names", "instance_groups[]")
def unique_group_names(config: ClusterConfig) -> Iterator[Problem]:
    """Group names must be unique.

    HyperPod, the Slurm configuration and later updates identify a group by its name.
    """
    first: dict[str, int] = {}
    for index, group in numbered(config.instance_groups):
        if first.setdefault(group.name, index) != index:
            message = f"already used by instance_groups[{first[group.name]}]"
            yield Problem(("instance_groups", index, "name"), group.name, message, "use a unique name")
