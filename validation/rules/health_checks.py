"""Check deep health checks, set by `deep_health_checks` or `overrides.OnStartDeepHealthChecks`."""

from collections.abc import Iterator

from config.errors import Level, Path, Problem
from config.instance_group import DeepHealthCheck, InstanceGroup
from config.instance_types import instance_type, types_of_group
from config.model import ClusterConfig, Implementation, Wait
from config.suggestions import either
from validation.entries import numbered
from validation.rules.overrides import items
from validation.rules.registry import rule

# Two for the checks, one for everything else.
DEEP_HEALTH_CHECK_HOURS = 3


def _checks(group: InstanceGroup) -> tuple[Path, list[str]]:
    """Return the field that requests checks, and the checks."""
    if group.overrides.get("OnStartDeepHealthChecks") is not None:
        requested = [str(check) for _, check in items(group.overrides, "OnStartDeepHealthChecks")]
        return ("overrides", "OnStartDeepHealthChecks"), requested
    return ("deep_health_checks",), [check.value for check in group.deep_health_checks]


def _types_without_accelerators(group: InstanceGroup) -> list[str]:
    """Return the group's known types without accelerators; known-instance-type reports unknown types."""
    return sorted(name for name in types_of_group(group) if (known := instance_type(name)) and not known.is_accelerated)


def _to_check(config: ClusterConfig) -> Iterator[tuple[Path, list[str], InstanceGroup]]:
    """Yield the path, the checks and the group for each group whose types have accelerators."""
    for index, group in numbered(config.instance_groups):
        field, checks = _checks(group)
        if checks and not _types_without_accelerators(group):  # otherwise deep-health-check-types reports it
            yield ("instance_groups", index, *field), checks, group


@rule("deep-health-check-types", "instance_groups[]", level=Level.WARNING)
def deep_health_check_types(config: ClusterConfig) -> Iterator[Problem]:
    """Deep health checks require instance types with accelerators, and each check may be listed only once.

    They test accelerators and the network between them. It is not documented whether HyperPod rejects them for other types or
    waits forever.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-deep-health-checks.html
    for index, group in numbered(config.instance_groups):
        field, checks = _checks(group)
        path: Path = ("instance_groups", index, *field)
        without = _types_without_accelerators(group)
        if checks and without:
            yield Problem(path, checks, f"{without[0]} has no accelerators; remove the checks")
        if len(set(checks)) != len(checks):
            yield Problem(path, checks, "has duplicate checks; list each check once")


@rule("connectivity-check", "instance_groups[]", level=Level.WARNING)
def connectivity_check(config: ClusterConfig) -> Iterator[Problem]:
    """InstanceConnectivity requires a group with at least two nodes of a type with EFA.

    It tests EFA between the nodes of a group.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-deep-health-checks.html
    for path, checks, group in _to_check(config):
        if DeepHealthCheck.CONNECTIVITY not in checks:
            continue
        without = [name for name in sorted(types_of_group(group)) if (known := instance_type(name)) and not known.efa_interfaces]
        if group.instance_count == 1:
            yield Problem(path, checks, "InstanceConnectivity requires at least two nodes; remove it, or increase instance_count")
        elif without:
            yield Problem(path, checks, f"InstanceConnectivity requires EFA, which {without[0]} does not have; remove it")


@rule("deep-health-checks-with-slurm", "instance_groups[]", level=Level.WARNING)
def deep_health_checks_with_slurm(config: ClusterConfig) -> Iterator[Problem]:
    """Deep health checks must be those that AWS documents for Slurm: InstanceStress and InstanceConnectivity.

    The API also accepts MultiNodeTrainingValidation, but its effect on Slurm clusters is not documented.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-deep-health-checks.html
    for path, checks, _ in _to_check(config):
        if DeepHealthCheck.TRAINING in checks:
            message = "MultiNodeTrainingValidation is not documented for Slurm; remove it, or test it and suppress this warning"
            yield Problem(path, checks, message)


@rule("deep-health-check-timeout", "implementation", "wait", "wait_hours", "instance_groups", level=Level.WARNING)
def deep_health_check_timeout(config: ClusterConfig) -> Iterator[Problem]:
    """`wait_hours` must be at least 3 for a deployment that waits for nodes with deep health checks.

    The checks take up to two hours after the nodes start. A deployment that times out earlier rolls back healthy nodes.
    """
    checked = [group.name for _, _, group in _to_check(config)]
    if config.implementation is not Implementation.CUSTOM_RESOURCE or config.wait is Wait.NONE or not checked:
        return
    if config.wait_hours < DEEP_HEALTH_CHECK_HOURS:
        message = f"deep health checks of {either(checked)} can take longer; set {DEEP_HEALTH_CHECK_HOURS}, or `wait: none`"
        yield Problem(("wait_hours",), config.wait_hours, message)
