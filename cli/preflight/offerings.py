"""Check that EC2 offers the groups' types in the zone; HyperPod's types are EC2's with the prefix `ml.`."""

from collections.abc import Iterator

from cli.preflight.account import Account
from cli.preflight.check import CheckResult, error, ok, skipped, warning
from cli.preflight.vpc_parts import subnet
from cluster_request.effective_request import Group
from config.instance_types import is_listed

LIMIT = "EC2 does not report free capacity"


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
    own = group.subnets
    if not own:
        return (account.config.network.availability_zone_id,)
    there = (subnet(account, each) for each in own)
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
