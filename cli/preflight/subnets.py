"""Check that the subnets in the file are in the right place and have enough free addresses."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cli.preflight.account import Account, Json
from cli.preflight.check import CheckResult, error, ok, skipped, warning
from cli.preflight.cluster import own_groups, running
from cli.preflight.vpc_parts import subnet
from cluster_request.addresses import addresses_of_node
from cluster_request.effective_request import EFA_ONLY, Group
from config.model import Orchestrator


@dataclass(frozen=True)
class Place:
    """Subnets that share their nodes, and the groups in them."""

    whose: str
    ids: tuple[str, ...]
    groups: tuple[Group, ...]
    zone: str | None
    """Where the file says that they are; of a group's own subnets it says nothing."""
    vpc: str | None
    more: int = 0
    """Addresses that others than nodes take."""


def subnets(account: Account) -> Iterator[CheckResult]:
    """Check that every subnet in the file exists in the VPC and the zone, and that together they have enough addresses."""
    places = tuple(_places(account))
    if not places:
        yield skipped("the deployment creates the nodes' subnet")
        return
    held = _held(account)
    for place in places:
        yield from _place(account, place, held)


def _places(account: Account) -> Iterator[Place]:
    """Yield the nodes' subnets, then each other set of subnets that groups have; overlapping sets are checked separately."""
    config = account.config
    shared, existing = account.request.node_subnets, config.network.existing
    sets: dict[tuple[str, ...], list[Group]] = {}
    for group in account.request.all_groups:
        sets.setdefault(tuple(sorted(set(group.subnets or shared))), []).append(group)
    own_of_all = sets.pop(tuple(sorted(set(shared))), [])
    if shared:
        takes = 0 if "Storage" in account.stacks else len(config.storage.created_file_systems)
        zone, vpc = config.network.availability_zone_id, existing.vpc_id if existing else None
        yield Place("the nodes' subnets", shared, tuple(own_of_all), zone, vpc, takes)
    for ids, some in sets.items():
        listed = f"{'group' if len(some) == 1 else 'groups'} {', '.join(group.name for group in some)}"
        yield Place(f"the subnets of {listed}", ids, tuple(some), None, existing.vpc_id if existing else None)


def _place(account: Account, place: Place, held: dict[str, int]) -> Iterator[CheckResult]:
    found: list[Json] = []
    for subnet_id in dict.fromkeys(place.ids):
        there = subnet(account, subnet_id)
        if there is None:
            yield error(f"{place.whose}: no subnet {subnet_id} in {account.region}", "correct the id or `region`")
        else:
            found.append(there)
    for there in found:
        yield from _misplaced(place, there)
    yield from _apart(place, found)
    if len(found) == len(set(place.ids)):
        yield _room(account, place, found, sum(held.get(group.name, 0) for group in place.groups))


def _apart(place: Place, found: list[Json]) -> Iterator[CheckResult]:
    """Check that subnets are in one zone: the nodes' own in the file's, and a group's for EFA."""
    if len({each["AvailabilityZoneId"] for each in found}) > 1 and (place.zone or any(group.has_efa for group in place.groups)):
        listed = ", ".join(f"{each['SubnetId']} in {each['AvailabilityZoneId']}" for each in found)
        make = error if place.zone else warning
        yield make(f"{place.whose} are in several zones ({listed})", "use subnets in one zone: EFA does not cross zones")


def _misplaced(place: Place, found: Json) -> Iterator[CheckResult]:
    name, vpc, zone = found["SubnetId"], found["VpcId"], found["AvailabilityZoneId"]
    if place.vpc and vpc != place.vpc:
        yield error(f"{name} is in {vpc}, not in {place.vpc}", "use subnets in the VPC")
    if place.zone and zone != place.zone:
        yield error(
            f"{name} is in {zone}, and `network.availability_zone_id` is {place.zone}",
            f"use a subnet in {place.zone}, or set it to {zone}",
        )


def _room(account: Account, place: Place, found: Iterable[Json], held: int) -> CheckResult:
    free = sum(int(each["AvailableIpAddressCount"]) for each in found)
    counts = {group.name: _addresses(account, group) for group in place.groups}
    unknown = [name for name, count in counts.items() if count is None]
    needed = sum(count or 0 for count in counts.values()) + place.more - held
    listed = ", ".join(f"{name} {'unknown' if count is None else count}" for name, count in counts.items())
    more = ", the file system 1 or more" if place.more else ""
    has = f", {held} of which its nodes already have" if held else ""
    whose = f"{place.whose} ({', '.join(place.ids)})"
    message = f"{whose} have {free} free addresses, and {needed + held} are required ({listed}{more}){has}"
    if needed > free:
        return error(
            message,
            "use larger subnets, reduce instance_count, or give groups their own subnets in `overrides.OverrideVpcConfig`",
        )
    if unknown:
        return warning(message, f"addresses per node of {', '.join(unknown)} are unknown: count them yourself")
    return ok(message)


def _addresses(account: Account, group: Group) -> int | None:
    """Return the most addresses that the group's nodes can take; None if a type is unknown."""
    kind, efa_only = account.request.orchestrator, group.is_efa_only
    each = [addresses_of_node(name, kind, efa_only=efa_only) for name in group.types]
    known = [count for count in each if count is not None]
    return group.count * max(known) if len(known) == len(each) else None


def _held(account: Account) -> dict[str, int]:
    """Return the addresses that the groups of the file's own cluster have now."""
    kind = account.request.orchestrator
    return {str(group["InstanceGroupName"]): _held_by(group, kind) for group in own_groups(account)}


def _held_by(group: Json, kind: Orchestrator) -> int:
    """Return the addresses that the group's nodes certainly have; unknown types count as none."""
    efa_only = (group.get("NetworkInterface") or {}).get("InterfaceType") == EFA_ONLY
    return sum(count * (addresses_of_node(name, kind, efa_only=efa_only) or 0) for name, count in running(group).items())
