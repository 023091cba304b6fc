"""The regions that SageMaker is in and their availability zones' ids, from a table made by tools/zone_table.py."""

import json
from functools import cache
from pathlib import Path

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
