"""Check that EC2 offers the groups' types in the zone, and that training plans have the groups' instances."""

from collections.abc import Iterable, Iterator
from typing import Any

from cli.aws_errors import unless_absent
from cli.preflight.account import Account
from cli.preflight.check import CheckResult, error, ok, skipped, together, warning
from cli.preflight.cluster import own_groups
from cli.preflight.vpc_parts import subnet
from cluster_request.effective_request import Group
from config.instance_types import is_listed

LIMIT = "EC2 does not report free capacity"
# https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeTrainingPlan.html
TARGET = "hyperpod-cluster"
READY, WAITING = "Active", ("Pending", "Scheduled")


def offerings(account: Account) -> Iterator[CheckResult]:
    """Check that each type is offered in the zone of its groups; free capacity is unknown."""
    wanted: dict[tuple[str, ...], list[Group]] = {}
    for group in account.request.all_groups:
        if here := _zones_of(account, group):
            wanted.setdefault(here, []).append(group)
    if not wanted:
        yield skipped("no group's subnets exist")
        return
    zones = _zones(account, sorted({name for some in wanted.values() for group in some for name in group.types}))
    for here, takers in wanted.items():
        for name in sorted({name for group in takers for name in group.types}):
            yield _offered(name, here, sorted(zones[name]), [group for group in takers if name in group.types])


def _zones_of(account: Account, group: Group) -> tuple[str, ...]:
    """Return the zones of the group's nodes: those of the group's subnets, or else the file's."""
    if not group.subnets:
        return (account.config.network.availability_zone_id,)
    there = (subnet(account, each) for each in group.subnets)
    return tuple(sorted({str(each["AvailabilityZoneId"]) for each in there if each}))


def _zones(account: Account, names: list[str]) -> dict[str, set[str]]:
    """Return the zones of the region in which each type is offered."""
    filters = [{"Name": "instance-type", "Values": [name.removeprefix("ml.") for name in names]}]
    listed = account.all(
        "ec2", "describe_instance_type_offerings", "InstanceTypeOfferings", LocationType="availability-zone-id", Filters=filters
    )
    zones: dict[str, set[str]] = {name: set() for name in names}
    for each in listed:
        zones.setdefault(f"ml.{each['InstanceType']}", set()).add(each["Location"])
    return zones


def _offered(name: str, here: tuple[str, ...], zones: list[str], takers: list[Group]) -> CheckResult:
    without = [zone for zone in here if zone not in zones]
    if not without:
        return ok(f"{name} is offered in {', '.join(here)} ({LIMIT})")
    if not zones and not is_listed(name):
        return error(
            f"unknown type {name}: neither HyperPod nor EC2 in this region has it",
            "correct the name; for a new type, upgrade this tool",
        )
    if not zones:
        return warning(
            f"{name}: EC2 does not offer it in this region", "use another type or region, unless AWS has reserved it for you"
        )
    message = f"{name} is not offered in {', '.join(without)}, but in {', '.join(zones)}"
    fix = f"{_move(takers)}, or use another type"
    doubt = _doubt(takers, is_somewhere=len(without) < len(here))
    return warning(f"{message} ({doubt})", fix) if doubt else error(message, fix)


def _doubt(takers: list[Group], *, is_somewhere: bool) -> str:
    """Return why the groups may still get their nodes; empty if they do not."""
    if is_somewhere:
        return "its group has subnets in several zones"
    if any(len(group.types) > 1 for group in takers):
        return "its group may have nodes of other types"
    return "the training plan determines the zone" if all(group.training_plan for group in takers) else ""


def _move(takers: list[Group]) -> str:
    """Return the fix that moves the groups to another zone; groups with their own subnets do not follow the file's zone."""
    own = [group.name for group in takers if group.subnets]
    ways = ["set `network.availability_zone_id` to one of these zones"] if len(own) < len(takers) else []
    if own:
        ways.append(f"give {', '.join(own)} subnets in one of these zones in `OverrideVpcConfig`")
    return ", and ".join(ways)


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
    held = (group for group in own_groups(account) if str(group.get("TrainingPlanArn", "")).endswith(f"/{name}"))
    return sum(group.get("CurrentCount", 0) for group in held)
