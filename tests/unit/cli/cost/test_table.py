"""The table of prices: every price has a source that can be looked at."""

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from cli.cost.charges import charges_of
from cli.cost.estimate import lines_of
from cli.cost.price import NAT_GATEWAY, PUBLIC_ADDRESS, Price, Unknown, instance
from cli.cost.table import EVERYWHERE, TABLE, Row, Table, read_table, save_table
from cli.errors import OpsError
from config.zones import regions
from tests.unit.cli.cost.clusters import cluster

ROW = '{"region": "%s", "usage_type": "NatGateway-Hours", "unit": "Hrs", "usd": "%s", "date": "%s", "source": "a test"}'


def table(*rows: tuple[str, str, str]) -> Table:
    """A table of gateways' prices."""
    return Table.model_validate_json(table_text(*rows))


def table_text(*rows: tuple[str, str, str]) -> str:
    """A table of gateways' prices as a file has it."""
    return '{"prices": [' + ", ".join(ROW % row for row in rows) + "]}"


@pytest.mark.parametrize("row", read_table().prices, ids=lambda row: f"{row.region} {row.usage_type}")
def test_each_price_here_has_an_address_a_past_date_and_a_region_that_there_is(row: Row) -> None:
    assert row.source.startswith("https://")
    assert row.date <= datetime.now(UTC).date()
    assert row.region in {*regions(), EVERYWHERE}
    if "github.com" in row.source:
        assert len(row.source.split("/")[6]) == 40, "cite a commit, as branches move"


def test_a_price_that_no_source_tells_is_unknown_and_not_that_of_an_ec2_instance() -> None:
    assert read_table().price(instance("ml.p5.48xlarge"), "us-west-2") == Unknown("no source for its price is in the table")


def test_the_price_of_another_region_is_none() -> None:
    assert isinstance(table(("us-east-1", "0.1", "2026-01-01")).price(NAT_GATEWAY, "us-west-2"), Unknown)


def test_a_price_that_holds_everywhere_holds_where_there_are_dollars() -> None:
    everywhere = table((EVERYWHERE, "0.1", "2026-01-01"))
    assert everywhere.price(NAT_GATEWAY, "eu-north-1") == Price(Decimal("0.1"), "2026-01-01", "a test")
    assert isinstance(everywhere.price(NAT_GATEWAY, "cn-north-1"), Unknown)


def test_two_prices_of_one_thing_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "prices.json"
    file.write_text(table_text(("us-east-1", "0.2", "2026-02-01"), ("us-east-1", "0.1", "2026-01-01")))
    with pytest.raises(OpsError, match="two prices of NatGateway-Hours in us-east-1; keep one of each"):
        read_table(file)


def test_of_the_regions_price_and_that_of_all_regions_the_newest_holds() -> None:
    found = table(("us-east-1", "0.2", "2026-02-01"), (EVERYWHERE, "0.1", "2026-01-01")).price(NAT_GATEWAY, "us-east-1")
    assert found == Price(Decimal("0.2"), "2026-02-01", "a test")


def test_prices_that_were_asked_for_can_be_saved_and_read_and_those_of_elsewhere_stay(tmp_path: Path) -> None:
    file = tmp_path / "prices.json"
    charges = charges_of(cluster())
    for region, usd in (("us-west-2", "0.1"), ("us-east-1", "0.2"), ("us-west-2", "0.3")):
        save_table(file, region, lines_of(charges, region, lambda _, __, usd=usd: Price(Decimal(usd), "2026-11-01", "asked")))  # type: ignore[misc]  # the default binds the loop's value
    assert len(read_table(file).prices) == 8
    assert read_table(file).price(NAT_GATEWAY, "us-east-1") == Price(Decimal("0.2"), "2026-11-01", "asked")
    assert read_table(file).price(PUBLIC_ADDRESS, "us-west-2") == Price(Decimal("0.3"), "2026-11-01", "asked")


def test_what_is_unknown_is_not_saved(tmp_path: Path) -> None:
    save_table(tmp_path / "prices.json", "us-west-2", lines_of(charges_of(cluster()), "us-west-2", lambda *_: Unknown("lost")))
    assert read_table(tmp_path / "prices.json").prices == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cannot read .*: No such file or directory; `--live --save .*` makes one"),
        ("{", "is no table of prices: Invalid JSON"),
        (
            table_text(("us-west-2", "-1", "2026-01-01")),
            "is no table of prices: prices.0.usd: Input should be greater",
        ),
        (table_text(("us-west-2", "NaN", "2026-01-01")), "is no table of prices: prices.0.usd: "),
        (table_text(("Oregon", "1", "2026-01-01")), "is no table of prices: prices.0.region: "),
    ],
)
def test_a_file_that_is_no_table_is_refused_with_what_is_wrong(tmp_path: Path, text: str | None, said: str) -> None:
    file = tmp_path / "prices.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(OpsError, match=said):
        read_table(file)


def test_the_table_is_saved_only_where_a_file_can_be(tmp_path: Path) -> None:
    with pytest.raises(OpsError, match=r"cannot write .*; give another name"):
        save_table(tmp_path / "no" / "folder.json", "us-west-2", ())


def test_the_table_here_is_one_price_a_line() -> None:
    assert TABLE.read_text().count("\n    {") == len(read_table().prices)
