"""The region, zone and network of an imported cluster."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from cli.errors import CommandError
from cli.import_cluster.choices import Choices, Keep
from cli.import_cluster.commented_yaml import Part
from cli.import_cluster.deployed_values import texts
from cli.import_cluster.original import VPC, Original
from config.errors import ABSENT, ConfigError, Path, Problem
from config.suggestions import either
from config.zones import region_of_zone, regions, zones_of

# Texts with a region in requests and parameters: ARNs and DNS names of FSx.
REGIONAL = re.compile(
    r"\barn:aws[a-z-]*:(?:sagemaker|eks|secretsmanager|kms|fsx):([a-z0-9-]+):|\.fsx\.([a-z0-9-]+)\.amazonaws\.com"
)


@dataclass(frozen=True)
class Place:
    """Region and zone, and whether the user chose the zone."""

    region: str | None
    zone: str
    is_chosen: bool


def place_of(original: Original, choices: Choices) -> Place:
    """Return the chosen place, or else the region of the original's ARNs and file systems."""
    named = list(_named(original))
    found = {region for *_, region in named}
    chosen = choices.region or (region_of_zone(choices.zone) if choices.zone else None)
    if chosen and found and chosen not in found:
        raise _contradiction(named, choices, chosen)
    region = chosen or (found.pop() if len(found) == 1 else None)
    if choices.zone:
        return Place(region, choices.zone, is_chosen=True)
    zones = zones_of(region) if region else ()
    if choices.keep is not Keep.NOTHING or not zones:
        offered = either(zones) if zones else "e.g. --zone usw2-az4"
        raise ConfigError({original.request_file: [Problem((), ABSENT, "unknown zone", f"pass --zone with its id ({offered})")]})
    return Place(region, zones[0], is_chosen=False)


# File, path, text and the region in it.
Named = tuple[str, Path, str, str]


def _named(original: Original) -> Iterator[Named]:
    """Return the regions that appear in the original."""
    for file, content in ((original.parameters_file, original.parameters), (original.request_file, original.request)):
        for path, text in texts(content):
            for match in REGIONAL.findall(text):
                yield from ((file, path, text, found) for found in match if found in regions())


def _contradiction(named: list[Named], choices: Choices, chosen: str) -> ConfigError:
    """Return the fix for a chosen region that differs from the original's."""
    option, where = ("--region", chosen) if choices.region else ("--zone", f"{choices.zone}, in {chosen}")
    fix = f"remove {option}; to move the cluster, edit the new file"
    problems: dict[str, list[Problem]] = {}
    for file, path, text, region in named:
        problems.setdefault(file, []).append(Problem(path, text, f"is in {region}, and {option} is {where}", fix))
    return ConfigError(problems)


def placed(ec2: Any, original: Original, choices: Choices) -> tuple[Original, Choices]:
    """Return the choices with the zone and VPC of a running cluster, and a note if its subnets are in several zones."""
    request, is_anew = original.request, choices.keep is Keep.NOTHING
    if VPC not in request or (is_anew and choices.zone):
        return original, choices
    found = {each["SubnetId"]: each for each in ec2.describe_subnets(SubnetIds=request[VPC]["Subnets"])["Subnets"]}
    subnets = [found[each] for each in request[VPC]["Subnets"]]  # in the request's order, which EC2 does not keep
    noted = replace(original, notes=(*original.notes, *_zones_note(subnets)))
    vpc_id, zone = subnets[0]["VpcId"], subnets[0]["AvailabilityZoneId"]
    if is_anew:  # a new network is also in the zone of the capacity
        return noted, replace(choices, zone=zone)
    for option, ours, theirs in (("--zone", choices.zone, zone), ("--vpc", choices.vpc_id, vpc_id)):
        if ours not in (None, theirs):
            raise CommandError(f"{option} {ours} contradicts {subnets[0]['SubnetId']}, which is in {theirs}", f"remove {option}")
    [vpc] = ec2.describe_vpcs(VpcIds=[vpc_id])["Vpcs"]
    is_adopted = choices.keep is Keep.EVERYTHING
    return noted, replace(choices, zone=zone, vpc_id=vpc_id, vpc_cidr=vpc["CidrBlock"], adopt=is_adopted)


def _zones_note(subnets: list[dict[str, Any]]) -> tuple[str, ...]:
    """Return the comment on subnets in several zones: the file has one zone for all nodes."""
    if len({each["AvailabilityZoneId"] for each in subnets}) == 1:
        return ()
    listed = ", ".join(f"{each['SubnetId']} in {each['AvailabilityZoneId']}" for each in subnets)
    return (f"The subnets are in several zones ({listed}); the file has the first subnet's zone.",)


def network_part(original: Original, choices: Choices, place: Place) -> Part:
    """Return the original's network section if it is kept, else a new one."""
    section: dict[str, object] = {"availability_zone_id": place.zone}
    had = original.request.get(VPC)
    if choices.keep is Keep.NOTHING or had is None:
        former = ", ".join([*had.get("Subnets", ()), *had.get("SecurityGroupIds", ())]) if had else ""
        comments = [f"A new network; the original {f'was in {former}' if had else 'has none'}."]
        if not place.is_chosen:
            comments.append(
                f"Choose the zone with your quota, reservation or training plan: {either(zones_of(place.region or ''))}."
            )
        return Part({"network": section}, tuple(comments))
    if choices.vpc_cidr:
        section["vpc_cidr"] = choices.vpc_cidr
    section["existing"] = {
        "vpc_id": choices.vpc_id,
        "node_subnet_ids": had["Subnets"],
        "security_group_id": had["SecurityGroupIds"][0],
    }
    return Part({"network": section}, ("The original's network, which must already have its routes and endpoints.",))
