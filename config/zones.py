"""The regions that SageMaker is in and their availability zones' ids, from a table made by tools/zone_table.py."""

import json
import re
from functools import cache
from pathlib import Path

from config.suggestions import either, nearest

TABLE = Path(__file__).parent / "data" / "zones.json"


@cache
def _table() -> dict[str, tuple[str, ...]]:
    content = json.loads(TABLE.read_text(encoding="utf-8"))
    return {region: tuple(zones) for region, zones in content["zones"].items()}


def regions() -> tuple[str, ...]:
    """Every region that SageMaker is in."""
    return tuple(_table())


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
    """The partition that a region is in; None for a region that the table does not have, which can be in a new one."""
    found = next((partition for begin, partition in _PARTITIONS.items() if region.startswith(begin)), "aws")
    return found if region in regions() else None


def zones_of(region: str) -> tuple[str, ...]:
    """The ids of the region's zones; none where the table does not know them."""
    return _table().get(region, ())


@cache
def _prefixes() -> dict[str, str]:
    """The regions by what their zones' ids begin with.

    The table has the zones that one account sees, and another account can see others of the region (apne1-az3, usw1-az2), or
    Local Zones (usw2-lax1-az1); all of them begin as their region's do:
    https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-availability-zones.html
    """
    return {_prefix(zone): region for region, zones in _table().items() for zone in zones}


def _prefix(zone_id: str) -> str:
    return zone_id.partition("-")[0]


def region_of_zone(zone_id: str) -> str | None:
    """The region that a zone of this id is in, if its beginning tells."""
    return _prefixes().get(_prefix(zone_id))


def is_known_zone(zone_id: str) -> bool:
    """Tell whether the table has the zone: an account can have zones that it does not have."""
    return any(zone_id in zones for zones in _table().values())


def could_be_a_region(name: str) -> bool:
    """Tell whether a region can have this name, be it one that is newer than the table."""
    return re.fullmatch(r"[a-z]+(-[a-z]+)?-(central|(north|south)?(east|west)|north|south)-[0-9]", name) is not None


def region_of_name(name: str) -> str | None:
    """The region that has a zone of this name: ``us-west-2`` of ``us-west-2a``."""
    region = name[:-1]
    return region if re.fullmatch("[a-z]", name[-1:]) and region in regions() else None


def zone_remedy(zone: str, region: str | None) -> str:
    """What to write instead of ``zone``: the region's ids where they are known, else those like it."""
    if region in regions():
        known = zones_of(region)
        return (
            f"use {either(known)}" if known else f"`aws ec2 describe-availability-zones --region {region}` lists the ids to use"
        )
    return nearest(zone, (each for some in _table().values() for each in some))
