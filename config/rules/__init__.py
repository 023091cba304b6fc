"""What must hold between the fields of a cluster file. Each rule has an id; the modules beside this one hold them by topic."""

# A rule registers itself when its module is imported: importing this package is what makes the list complete.
from config.rules import (
    addresses,
    associations,
    cluster,
    groups,
    implementation,
    instance_types,
    lifecycle,
    network,
    slurm,
    storage,
    users,
)
from config.rules.registry import RULES, Rule, broken_rules

__all__ = [
    "RULES",
    "Rule",
    "addresses",
    "associations",
    "broken_rules",
    "cluster",
    "groups",
    "implementation",
    "instance_types",
    "lifecycle",
    "network",
    "slurm",
    "storage",
    "users",
]
