"""Rules about deep health checks, of the field `deep_health_checks` and of `overrides.OnStartDeepHealthChecks`."""

from collections.abc import Iterator

from config.errors import Level, Path, Problem
from config.instance_group import DeepHealthCheck, InstanceGroup
from config.instance_types import instance_type, types_of_group
from config.model import ClusterConfig, Implementation, Wait
from config.suggestions import either
from validation.entries import numbered
from validation.rules.registry import rule
from validation.rules.verbatim import items

# Two for the checks, one for all else.
HOURS_OF_DEEP_HEALTH_CHECKS = 3


def _checks(group: InstanceGroup) -> tuple[Path, list[str]]:
    """The field that asks for checks, and those that it asks for."""
    if group.overrides.get("OnStartDeepHealthChecks") is not None:
        asked = [str(check) for _, check in items(group.overrides, "OnStartDeepHealthChecks")]
        return ("overrides", "OnStartDeepHealthChecks"), asked
    return ("deep_health_checks",), [check.value for check in group.deep_health_checks]


def _without_accelerators(group: InstanceGroup) -> list[str]:
    """Those of the group's types that are known to have none: of a type that is not known, known-instance-type tells."""
    return sorted(name for name in types_of_group(group) if (known := instance_type(name)) and not known.is_accelerated)


def _to_check(config: ClusterConfig) -> Iterator[tuple[Path, list[str], InstanceGroup]]:
    """Where which checks are asked for of a group that can have some."""
    for index, group in numbered(config.instance_groups):
        field, checks = _checks(group)
        if checks and not _without_accelerators(group):  # of the others, deep-health-checks-of-accelerated-types tells
            yield ("instance_groups", index, *field), checks, group


@rule("deep-health-checks-of-accelerated-types", "instance_groups[]", level=Level.WARNING)
def deep_health_checks_of_accelerated_types(config: ClusterConfig) -> Iterator[Problem]:
    """Deep health checks are asked of instance types with accelerators alone, and of each once.

    They test accelerators and what connects them. Whether HyperPod refuses the request for another type, or waits for a check
    that there is not, is not documented.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-deep-health-checks.html
    for index, group in numbered(config.instance_groups):
        field, checks = _checks(group)
        path: Path = ("instance_groups", index, *field)
        without = _without_accelerators(group)
        if checks and without:
            yield Problem(path, checks, f"{without[0]} has no accelerators to check; remove them")
        if len(set(checks)) != len(checks):
            yield Problem(path, checks, "names a check twice; keep each once")


@rule("checks-between-nodes", "instance_groups[]", level=Level.WARNING)
def checks_between_nodes(config: ClusterConfig) -> Iterator[Problem]:
    """InstanceConnectivity is asked of groups with two nodes or more, of a type with EFA.

    It measures how the nodes of a group talk to each other: with one node, or without EFA, there is nothing to measure.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-deep-health-checks.html
    for path, checks, group in _to_check(config):
        if DeepHealthCheck.CONNECTIVITY not in checks:
            continue
        without = [name for name in sorted(types_of_group(group)) if (known := instance_type(name)) and not known.efa_interfaces]
        if group.instance_count == 1:
            yield Problem(path, checks, "InstanceConnectivity needs two nodes; remove it, or raise instance_count")
        elif without:
            yield Problem(path, checks, f"{without[0]} has no EFA for InstanceConnectivity to measure; remove it")


@rule("checks-of-slurm-clusters", "instance_groups[]", level=Level.WARNING)
def checks_of_slurm_clusters(config: ClusterConfig) -> Iterator[Problem]:
    """Deep health checks are those that AWS describes for Slurm: InstanceStress and InstanceConnectivity.

    The API knows MultiNodeTrainingValidation as well, and nothing says that it does anything in a cluster with Slurm.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-deep-health-checks.html
    for path, checks, _ in _to_check(config):
        if DeepHealthCheck.TRAINING in checks:
            message = "AWS does not describe MultiNodeTrainingValidation for Slurm; remove it, or try it and silence this"
            yield Problem(path, checks, message)


@rule("time-for-deep-health-checks", "implementation", "wait", "wait_hours", "instance_groups", level=Level.WARNING)
def time_for_deep_health_checks(config: ClusterConfig) -> Iterator[Problem]:
    """A deployment that waits for nodes with deep health checks waits for three hours or more (`wait_hours`).

    The checks take up to two hours beside the nodes' own start; a deployment that gives up before rolls back nodes that are fine.
    """
    checked = [group.name for _, _, group in _to_check(config)]
    if config.implementation is not Implementation.CUSTOM_RESOURCE or config.wait is Wait.NONE or not checked:
        return
    if config.wait_hours < HOURS_OF_DEEP_HEALTH_CHECKS:
        message = f"the checks of {either(checked)} can take longer; set {HOURS_OF_DEEP_HEALTH_CHECKS}, or `wait: none`"
        yield Problem(("wait_hours",), config.wait_hours, message)
