"""The checked-in table matches the tool's output for the installed botocore and moto."""

import json

import pytest
from botocore.session import Session

from config.zones import TABLE, is_plausible_region, partition_of, region_of_zone, regions, zones_of
from tools.zone_table import rendered, table


def test_the_table_is_fresh() -> None:
    date = json.loads(TABLE.read_text())["date"]
    assert TABLE.read_text() == rendered(table(date)) + "\n", "run `python -m tools.zone_table > config/data/zones.json`"


def test_a_zone_has_one_region() -> None:
    zones = [zone for region in regions() for zone in zones_of(region)]
    assert len(zones) == len(set(zones)) > 90


def test_every_region_is_in_the_partition_that_botocore_has_it_in() -> None:
    session = Session()
    assert {region: partition_of(region) for region in regions()} == {
        region: session.get_partition_for_region(region) for region in regions()
    }
    assert partition_of("us-west-3") is None


def test_every_region_has_a_name_that_a_region_can_have() -> None:
    assert [region for region in regions() if not is_plausible_region(region)] == []
    assert not is_plausible_region("us-wset-2")


@pytest.mark.parametrize(("zone", "region"), [("usw2-az4", "us-west-2"), ("use1-dfw2-az1", "us-east-1"), ("xyz1-az1", None)])
def test_the_region_of_a_zone_is_found(zone: str, region: str | None) -> None:
    assert region_of_zone(zone) == region
