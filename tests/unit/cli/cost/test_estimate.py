"""The arithmetic of an estimate, and how it is told."""

import re
from decimal import Decimal

from cli.cost.charges import (
    NAT_GATEWAY,
    PUBLIC_ADDRESS,
    VOLUME,
    Price,
    Product,
    Unknown,
    charges_of,
    instance,
    lustre,
    priced,
)
from cli.cost.estimate import Estimate, as_data
from cli.cost.estimate import as_text as blocks
from cli.result import Result
from tests.unit.cli.cost.clusters import cluster

# Made up, so that a sum that is right by chance would show.
DOLLARS = {
    instance("ml.c5.xlarge"): "0.10000003",
    instance("ml.g5.8xlarge"): "3.00000007",
    VOLUME: "0.11",
    lustre(250): "0.213",
    NAT_GATEWAY: "0.041",
    PUBLIC_ADDRESS: "0.0043",
}
CONFIG = cluster(work={"volume_gib": 300}, storage={"lustre": {}})


def price(product: Product) -> Price | Unknown:
    """The made-up price."""
    dollars = DOLLARS.get(product)
    return Price(Decimal(dollars), "2026-11-01", "a test") if dollars else Unknown("no test has it")


def estimate(*without: Product) -> Estimate:
    """The estimate of the cluster above, for which these products have no price."""
    charges = priced(charges_of(CONFIG), lambda product: Unknown("lost") if product in without else price(product))
    return Estimate("priced.yaml", "priced", "us-west-2", charges, ("mind the gap",), is_live=True)


def as_text(estimate: Estimate) -> str:
    """The text that is printed."""
    return str(Result(None, blocks(estimate)))


def test_sums_are_exact() -> None:
    per_month = {charge.what: charge.per_month for charge in estimate().charges}
    assert per_month == {
        "1 x ml.c5.xlarge, 1 thread per core": Decimal("73.0000219"),
        "4 x ml.g5.8xlarge, 1 thread per core": Decimal("8760.0002044"),
        "4 x volume of 300 GB": Decimal("132"),
        "1200 GiB PERSISTENT_2, 250 MB/s per TiB": Decimal("255.6"),
        "1": Decimal("29.93"),
        "1, of the NAT gateway": Decimal("3.139"),
    }
    assert estimate().per_month == Decimal("9253.6692263")
    assert estimate().per_hour.quantize(Decimal("0.0000000001")) == Decimal("12.6762592141")


def test_a_sum_without_one_of_the_prices_is_that_of_the_others_and_says_at_least() -> None:
    assert estimate(VOLUME).per_month == Decimal("9121.6692263")
    partly = estimate(VOLUME)
    assert [charge.what for charge in estimate(VOLUME).unknown] == ["4 x volume of 300 GB"]
    assert "total                  of 5 of 6 prices; the others are unknown  at least 12.4954  at least 9,121.67" in as_text(
        partly
    )
    assert "- work, 4 x volume of 300 GB: lost" in as_text(partly)


def test_without_the_price_of_any_node_the_sum_is_unknown() -> None:
    nothing = estimate(instance("ml.c5.xlarge"), instance("ml.g5.8xlarge"))
    assert "total of 4 of 6 prices; no node's is known unknown unknown" in " ".join(as_text(nothing).split())
    assert as_data(nothing)["total"] == {"per_hour": None, "per_month": None, "is_complete": False}
    assert "at least" in as_text(estimate(instance("ml.g5.8xlarge")))


def test_a_sum_with_all_prices_is_no_least() -> None:
    told = as_text(estimate())
    assert "at least" not in told
    assert "unknown" not in told
    assert "12.6763   9,253.67" in told


def test_each_price_names_its_source_and_one_source_is_named_once() -> None:
    told = as_text(estimate())
    assert told.count("[1]") == 6 + 1
    assert told.endswith("\n\n[1] 2026-11-01, a test")


def test_without_prices_there_are_quantities_and_how_to_get_prices() -> None:
    offline = Estimate("priced.yaml", "priced", "us-west-2", tuple(charges_of(CONFIG)), ())
    text = as_text(offline)
    assert re.search(r"4 x ml.g5.8xlarge, 1 thread per core +2,920 +node-hours", text)
    assert re.search(r"4 x volume of 300 GB +1,200 +GiB-months", text)
    assert "`--live` adds prices" in text
    assert "--live" not in as_text(estimate(VOLUME))


def test_a_group_without_nodes_costs_nothing_whatever_its_price() -> None:
    asked = []

    def unknown(product: Product) -> Unknown:
        asked.append(product)
        return Unknown("lost")

    charges = priced(charges_of(cluster(work={"instance_count": 0})), unknown)
    [work] = [charge for charge in charges if charge.name == "work"]
    assert work.per_month == 0
    assert asked
    assert instance("ml.g5.8xlarge") not in asked


def test_a_price_is_asked_for_once() -> None:
    asked = []

    def counted(product: Product) -> Price | Unknown:
        asked.append(product)
        return price(product)

    twins = cluster(work={"instance_type": "ml.c5.xlarge"})
    priced(charges_of(twins), counted)
    assert asked.count(instance("ml.c5.xlarge")) == 1


def test_a_program_gets_every_line_with_its_price_and_source_or_with_why_not() -> None:
    told = as_data(estimate(NAT_GATEWAY))
    assert told["charges"][1] == {
        "section": "instance groups",
        "name": "work",
        "description": "4 x ml.g5.8xlarge, 1 thread per core",
        "quantity_per_month": "2920",
        "unit": "node-hours",
        "per_hour": "12.00000028",
        "per_month": "8760.00020440",
        "price": {"usd": "3.00000007", "date": "2026-11-01", "source": "a test"},
        "message": None,
    }
    assert told["charges"][4] == {
        "section": "network",
        "name": "NAT gateway",
        "description": "1",
        "quantity_per_month": "730",
        "unit": "hours",
        "per_hour": None,
        "per_month": None,
        "price": None,
        "message": "lost",
    }
    assert told["total"] == {"per_hour": "12.63525921", "per_month": "9223.73922630", "is_complete": False}
    assert told["notes"] == ["mind the gap"]
