"""Check training plans."""

from collections.abc import Iterable, Iterator
from typing import Any

from cli.aws_errors import unless_absent
from cli.group_members import groups_of
from cli.preflight.account import Account
from cli.preflight.check import CheckResult, error, skipped, together, warning
from cli.preflight.live_clusters import described, has_own_name
from cluster_request.effective_request import Group

# https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeTrainingPlan.html
TARGET = "hyperpod-cluster"
READY, WAITING = "Active", ("Pending", "Scheduled")


def training_plans(account: Account) -> Iterator[CheckResult]:
    """Check that each plan is for clusters and active, and has the groups' types, zone and instances."""
    wanted = [group for group in account.request.all_groups if group.training_plan]
    plans = dict.fromkeys(str(group.training_plan) for group in wanted)
    if not plans:
        yield skipped("no group names a training plan")
    for arn in plans:
        takers = [group for group in wanted if group.training_plan == arn]
        yield from _plan(account, arn, takers)


def _plan(account: Account, arn: str, takers: list[Group]) -> Iterator[CheckResult]:
    name = arn.rsplit("/", 1)[-1]
    plan = unless_absent(lambda: account.client("sagemaker").describe_training_plan(TrainingPlanName=name))
    if plan is None:
        listing = f"`aws sagemaker list-training-plans --region {account.region}` lists the existing plans"
        yield error(f"no training plan {name} in {account.region}", listing)
        return
    yield from together(
        account,
        _state(name, plan),
        _target(name, plan),
        _place(account, name, plan, takers),
        _room(account, name, plan, takers),
        well=f"{name} is {plan['Status']}, {plan.get('AvailableInstanceCount', 0)} of {plan.get('TotalInstanceCount', 0)} free",
    )


def _state(name: str, plan: dict[str, Any]) -> Iterator[CheckResult]:
    status = plan["Status"]
    begins = f", from {plan['StartTime']:%Y-%m-%d %H:%M %Z}" if plan.get("StartTime") else ""
    if status in WAITING:
        yield warning(
            f"{name} is {status}{begins}", "its groups get their nodes when it begins: deploy then, or set `wait: cluster`"
        )
    elif status != READY:
        message = f"{name} is {status}{': ' if plan.get('StatusMessage') else ''}{plan.get('StatusMessage', '')}"
        yield error(message, "use a plan that is Active, or remove `training_plan_arn`")


def _target(name: str, plan: dict[str, Any]) -> Iterator[CheckResult]:
    targets = plan.get("TargetResources") or [TARGET]
    if TARGET not in targets:
        yield error(f"{name} is for {', '.join(targets)}", f"use a plan for {TARGET}")


def _place(account: Account, name: str, plan: dict[str, Any], takers: Iterable[Group]) -> Iterator[CheckResult]:
    capacities = plan.get("ReservedCapacitySummaries") or []
    types = sorted({each["InstanceType"] for each in capacities})
    for group in takers:
        if types and not set(group.types) <= set(types):
            yield error(
                f"{name} has {', '.join(types)}, and group {group.name} requests {', '.join(group.types)}",
                "use the plan's type, or another plan",
            )
    zone = account.config.network.availability_zone_id
    zones = sorted({each["AvailabilityZoneId"] for each in capacities if each.get("AvailabilityZoneId")})
    if zones and zone not in zones and any(not group.has_own_network for group in takers):
        yield error(
            f"{name} has its instances in {', '.join(zones)}, and the nodes' zone is {zone}",
            "set `network.availability_zone_id` to it",
        )


def _room(account: Account, name: str, plan: dict[str, Any], takers: Iterable[Group]) -> Iterator[CheckResult]:
    """Check the free instances, with those that the file's own cluster has."""
    asked = sum(group.count for group in takers)
    if plan["Status"] in WAITING:
        free, kind = plan.get("TotalInstanceCount", 0), "in all"
    else:
        free, kind = plan.get("AvailableInstanceCount", 0) + _held(account, name), "free for this cluster"
    if asked > free:
        yield error(f"{name} has {free} instances {kind}, and {asked} are requested", "request fewer, or buy another plan")


def _held(account: Account, name: str) -> int:
    own = (cluster for cluster in described(account) if has_own_name(account, cluster))
    held = (group for cluster in own for group in groups_of(cluster))
    return sum(group.get("CurrentCount", 0) for group in held if str(group.get("TrainingPlanArn", "")).endswith(f"/{name}"))
