"""Where an imported cluster is: region, zone and network."""

import json
import re
from dataclasses import dataclass

from config.errors import ABSENT, ConfigError, Problem
from config.imports.choices import Choices, Keep
from config.imports.commented_yaml import Part
from config.imports.original import VPC, Original
from config.nearest import either
from config.zones import region_of_zone, regions, zones_of

# Where texts of requests and parameters carry a region: ARNs, and names of FSx's hosts.
REGIONAL = re.compile(
    r"\barn:aws[a-z-]*:(?:sagemaker|eks|secretsmanager|kms|fsx):([a-z0-9-]+):|\.fsx\.([a-z0-9-]+)\.amazonaws\.com"
)


@dataclass(frozen=True)
class Place:
    """Region and zone, and whether somebody chose the zone."""

    region: str | None
    zone: str
    is_chosen: bool


def place_of(original: Original, choices: Choices) -> Place:
    """Where the cluster goes: as chosen, else in the region that its ARNs and file systems are in."""
    region = choices.region or (region_of_zone(choices.zone) if choices.zone else None) or _region(original)
    if choices.zone:
        return Place(region, choices.zone, is_chosen=True)
    zones = zones_of(region) if region else ()
    if choices.keep is not Keep.NOTHING or not zones:
        offered = either(zones) if zones else "e.g. --zone usw2-az4"
        message = f"nothing says which zone the cluster is in; add --zone with its id ({offered})"
        raise ConfigError({original.request_file: [Problem((), ABSENT, message)]})
    return Place(region, zones[0], is_chosen=False)


def _region(original: Original) -> str | None:
    """The one region that the original's texts name."""
    text = json.dumps([original.parameters, original.request])
    named = {found for match in REGIONAL.findall(text) for found in match if found in regions()}
    return named.pop() if len(named) == 1 else None


def region_part(place: Place) -> Part:
    """The region, where it is known."""
    return Part({"region": place.region} if place.region else {})


def network_part(original: Original, choices: Choices, place: Place) -> Part:
    """The network section: the original's, where it is kept, else a new one."""
    section: dict[str, object] = {"availability_zone_id": place.zone}
    had = original.request.get(VPC)
    if choices.keep is Keep.NOTHING or had is None:
        comments = [f"A new network; the original was in {_listed(had)}." if had else "A new network; the original names none."]
        if not place.is_chosen:
            comments.append(
                f"Choose the zone where your quota, reservation or training plan is: {either(zones_of(place.region or ''))}."
            )
        return Part({"network": section}, tuple(comments))
    if choices.vpc_cidr:
        section["vpc_cidr"] = choices.vpc_cidr
    section["existing"] = {
        "vpc_id": choices.vpc_id,
        "node_subnet_ids": had["Subnets"],
        "security_group_id": had["SecurityGroupIds"][0],
    }
    return Part({"network": section}, ("The original's network, which must have its routes and endpoints.",))


def _listed(network: dict[str, list[str]]) -> str:
    return ", ".join([*network.get("Subnets", ()), *network.get("SecurityGroupIds", ())])
