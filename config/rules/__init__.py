"""What must hold between the fields of a cluster file. Each rule has an id; the modules beside this one hold them by topic."""

# A rule registers itself when its module is imported: importing this package is what makes the list complete.
from config.rules import (
    addresses,
    alternatives,
    associations,
    capacity,
    cluster,
    group_networks,
    groups,
    health_checks,
    implementation,
    instance_types,
    lifecycle,
    network,
    orchestration,
    places,
    slurm,
    storage,
    users,
    volumes,
)
from config.rules.registry import RULES, Rule, broken_rules

__all__ = [
    "RULES",
    "Rule",
    "addresses",
    "alternatives",
    "associations",
    "broken_rules",
    "capacity",
    "cluster",
    "group_networks",
    "groups",
    "health_checks",
    "implementation",
    "instance_types",
    "lifecycle",
    "network",
    "orchestration",
    "places",
    "slurm",
    "storage",
    "users",
    "volumes",
]
