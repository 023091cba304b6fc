"""Check deep health checks."""

from collections.abc import Iterator

from cluster_request.effective_request import EffectiveRequest, GroupMember, Member
from config.errors import Level, Problem
from config.instance_group import DeepHealthCheck
from config.instance_types import accelerator
from config.model import Wait
from config.suggestions import either
from validation.rules.registry import request_rule, slurm_request_rule

# Two for the checks, one for everything else.
DEEP_HEALTH_CHECK_HOURS = 3


def _checks(group: GroupMember) -> tuple[Member, list[str]]:
    """Return the member that requests checks, and the checks."""
    requested = group.member("OnStartDeepHealthChecks")
    return requested, [str(each.value) for each in requested.entries()]


def _types_without_accelerators(group: GroupMember) -> list[str]:
    """Return the group's known types without accelerators; known-instance-type reports unknown types."""
    return sorted(name for name in group.known_types() if accelerator(name) is None)


def _to_check(request: EffectiveRequest) -> Iterator[tuple[Member, list[str], GroupMember]]:
    """Yield the member, the checks and the group for each group whose types have accelerators."""
    for group in request.groups:
        requested, checks = _checks(group)
        if checks and not _types_without_accelerators(group):  # otherwise deep-health-check-types reports it
            yield requested, checks, group


@request_rule("deep-health-check-types", "instance_groups[]", level=Level.WARNING)
def deep_health_check_types(request: EffectiveRequest) -> Iterator[Problem]:
    """Deep health checks require instance types with accelerators, and each check may be listed only once.

    They test accelerators and the network between them. It is not documented whether HyperPod rejects them for other types or
    waits forever.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-deep-health-checks.html
    for group in request.groups:
        requested, checks = _checks(group)
        without = _types_without_accelerators(group)
        if checks and without:
            yield requested.problem(f"{without[0]} has no accelerators", "remove the checks")
        if len(set(checks)) != len(checks):
            yield requested.problem("has duplicate checks", "list each check once")


@request_rule("connectivity-check", "instance_groups[]", level=Level.WARNING)
def connectivity_check(request: EffectiveRequest) -> Iterator[Problem]:
    """InstanceConnectivity requires a group with at least two nodes of a type with EFA.

    It tests EFA between the nodes of a group.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-deep-health-checks.html
    for requested, checks, group in _to_check(request):
        if DeepHealthCheck.CONNECTIVITY not in checks:
            continue
        without = sorted(name for name, known in group.known_types().items() if not known.efa_interfaces)
        if group.group.instance_count == 1:
            yield requested.problem("InstanceConnectivity requires at least two nodes", "remove it, or increase instance_count")
        elif without:
            yield requested.problem(f"InstanceConnectivity requires EFA, which {without[0]} does not have", "remove it")


@slurm_request_rule("deep-health-checks-with-slurm", "instance_groups[]", level=Level.WARNING)
def deep_health_checks_with_slurm(request: EffectiveRequest) -> Iterator[Problem]:
    """Deep health checks must be those that AWS documents for Slurm: InstanceStress and InstanceConnectivity.

    The API also accepts MultiNodeTrainingValidation, but its effect on Slurm clusters is not documented.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-resiliency-slurm-deep-health-checks.html
    for requested, checks, _ in _to_check(request):
        if DeepHealthCheck.TRAINING in checks:
            yield requested.problem(
                "MultiNodeTrainingValidation is not documented for Slurm", "remove it, or test it and suppress this warning"
            )


@request_rule("deep-health-check-timeout", "wait", "wait_hours", "instance_groups", level=Level.WARNING)
def deep_health_check_timeout(request: EffectiveRequest) -> Iterator[Problem]:
    """`wait_hours` must be at least 3 for a deployment that waits for nodes with deep health checks.

    The checks take up to two hours after the nodes start. A deployment that times out earlier rolls back healthy nodes.
    """
    config, checked = request.config, [group.name for _, _, group in _to_check(request)]
    if config.wait is Wait.NONE or not checked:
        return
    if config.wait_hours < DEEP_HEALTH_CHECK_HOURS:
        alternative = "" if config.eks else ", or `wait: none`"
        message = f"deep health checks of {either(checked)} can take longer"
        yield Problem(("wait_hours",), config.wait_hours, message, f"set {DEEP_HEALTH_CHECK_HOURS}{alternative}")
