"""Whether EC2 offers the groups' types in the zone: HyperPod's instances are EC2's, under the same name without `ml.`."""

from collections.abc import Iterator

from ops.preflight.account import Account
from ops.preflight.finding import Finding, error, not_asked, ok, warning
from ops.preflight.wanted import Group, groups

LIMIT = "EC2's list says where a type exists, not whether any is free"


def offerings(account: Account) -> Iterator[Finding]:
    """Each type is offered in the zone; what is free there, nobody tells."""
    zone = account.config.network.availability_zone_id
    wanted = [group for group in groups(account.config) if not group.network]
    names = sorted({name.removeprefix("ml.") for group in wanted for name in group.types})
    if not names:
        yield not_asked("every group has subnets of its own")
        return
    filters = [{"Name": "instance-type", "Values": names}]
    listed = account.all(
        "ec2", "describe_instance_type_offerings", "InstanceTypeOfferings", LocationType="availability-zone-id", Filters=filters
    )
    zones: dict[str, set[str]] = {name: set() for name in names}
    for each in listed:
        zones[each["InstanceType"]].add(each["Location"])
    for name in names:
        yield _offered(f"ml.{name}", zone, sorted(zones[name]), [group for group in wanted if f"ml.{name}" in group.types])


def _offered(name: str, zone: str, zones: list[str], takers: list[Group]) -> Finding:
    if zone in zones:
        return ok(f"{name} exists in {zone} ({LIMIT})")
    if not zones:
        return warning(
            f"{name}: EC2 lists it in no zone of the region", "take another type or region, unless AWS has promised it to you"
        )
    said = f"{name} does not exist in {zone}, but in {', '.join(zones)}"
    remedy = "set `network.availability_zone_id` to one of these, or take another type"
    if any(len(group.types) > 1 for group in takers):
        return warning(f"{said} (its group may have nodes of other types)", remedy)
    return error(said, remedy)
