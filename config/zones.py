"""Look up regions and availability zone ids in the table from tools/zone_table.py."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from config.suggestions import either, nearest

TABLE = Path(__file__).parent / "data" / "zones.json"
# https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
UNSUPPORTED_BY_EKS = ("use1-az3", "usw1-az2", "cac1-az3")


@cache
def _table() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    return content


def zones_with_type(name: str, region: str) -> tuple[str, ...] | None:
    """Return the region's zones that offer the type; None if the type is not accelerated or the zones are unknown."""
    offering = next((set(each["zones"]) for each in _table()["accelerated_types"] if name in each["types"]), None)
    known = zones_of(region)
    return tuple(zone for zone in known if zone in offering) if known and offering is not None else None


def regions() -> tuple[str, ...]:
    """Return all regions with SageMaker."""
    return tuple(_table()["zones"])


# https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html
_PARTITIONS = {
    "cn-": "aws-cn",
    "us-gov-": "aws-us-gov",
    "us-iso-": "aws-iso",
    "us-isob-": "aws-iso-b",
    "eu-isoe-": "aws-iso-e",
    "us-isof-": "aws-iso-f",
    "eusc-": "aws-eusc",
}


def partition_of(region: str) -> str | None:
    """Return the region's partition; None for an unknown region, which can be in a new partition."""
    found = next((partition for begin, partition in _PARTITIONS.items() if region.startswith(begin)), "aws")
    return found if region in regions() else None


def zones_of(region: str) -> tuple[str, ...]:
    """Return the region's zone ids, or an empty tuple if they are unknown."""
    return tuple(_table()["zones"].get(region, ()))


@cache
def _prefixes() -> dict[str, str]:
    """Return the regions by the prefix of their zone ids.

    The table has the zones of one account; other accounts can have others (apne1-az3, usw1-az2) or Local Zones (usw2-lax1-az1),
    with the same prefix: https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-availability-zones.html
    """
    return {_prefix(zone): region for region, zones in _table()["zones"].items() for zone in zones}


def _prefix(zone_id: str) -> str:
    return zone_id.partition("-")[0]


def region_of_zone(zone_id: str) -> str | None:
    """Return the zone's region, if its prefix is known."""
    return _prefixes().get(_prefix(zone_id))


def control_plane_zones(node_zone_id: str) -> tuple[str, ...]:
    """Return the two zones of an EKS control plane, empty if the region's zones are unknown.

    The first is the nodes' zone, if EKS supports it, and the other the next one of its region. A zone that the account lacks
    fails at deployment; `eks.control_plane_zone_ids` names others.
    """
    known = [zone for zone in zones_of(region_of_zone(node_zone_id) or "") if zone not in UNSUPPORTED_BY_EKS]
    first = known.index(node_zone_id) if node_zone_id in known else 0
    found = (*known[first:], *known[:first])[:2]
    return found if len(found) == 2 else ()


def is_known_zone(zone_id: str) -> bool:
    """Return whether the table has the zone; an account can have others."""
    return any(zone_id in zones for zones in _table()["zones"].values())


def is_plausible_region(name: str) -> bool:
    """Return whether this is a plausible region name, possibly newer than the table."""
    return re.fullmatch(r"[a-z]+(-[a-z]+)?-(central|(north|south)?(east|west)|north|south)-[0-9]", name) is not None


def region_of_name(name: str) -> str | None:
    """Return the region of a zone name: ``us-west-2`` for ``us-west-2a``."""
    region = name[:-1]
    return region if re.fullmatch("[a-z]", name[-1:]) and region in regions() else None


def zone_fix(zone: str, region: str | None) -> str:
    """Return a fix for ``zone``: the region's zone ids, or similar ids."""
    if region in regions():
        known = zones_of(region)
        return f"use {either(known)}" if known else f"use an id from `aws ec2 describe-availability-zones --region {region}`"
    return nearest(zone, (each for some in _table()["zones"].values() for each in some))
