"""Check a cluster file beyond single fields: `common` for every file, `slurm` and `eks` for one, `api` for the request."""

# A rule is registered when its module is imported.
# ruff: noqa: F401
from validation.rules.api import (
    capacity,
    conflicts,
    execution_roles,
    group_networks,
    health_checks,
    instance_types,
    locations,
    scripts,
    slurm_options,
    subnet_capacity,
    volumes,
)
from validation.rules.common import (
    associations,
    directory,
    lifecycle,
    monitoring,
    names,
    network,
    node_role,
    overrides,
    removal,
    storage,
    users,
)
from validation.rules.eks import access, addons, control_plane, helm_chart, nodes, orchestrator, pod_places, quotas
from validation.rules.registry import CHART_RULES, RULES, Rule, broken_chart_rules, broken_rules
from validation.rules.slurm import accounting, groups, parameters, partitions, settings

__all__ = ["CHART_RULES", "RULES", "Rule", "broken_chart_rules", "broken_rules"]
