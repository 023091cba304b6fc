"""The regions that SageMaker is in and their availability zones' ids, from a table made by tools/zone_table.py."""

import json
import re
from functools import cache
from pathlib import Path

from config.nearest import either, nearest

TABLE = Path(__file__).parent / "data" / "zones.json"


@cache
def _table() -> dict[str, tuple[str, ...]]:
    content = json.loads(TABLE.read_text(encoding="utf-8"))
    return {region: tuple(zones) for region, zones in content["zones"].items()}


def regions() -> tuple[str, ...]:
    """Every region that SageMaker is in."""
    return tuple(_table())


def zones_of(region: str) -> tuple[str, ...]:
    """The ids of the region's zones; none where the table does not know them."""
    return _table().get(region, ())


def region_of_zone(zone_id: str) -> str | None:
    """The region that has this zone, if the table knows it."""
    return next((region for region, zones in _table().items() if zone_id in zones), None)


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
