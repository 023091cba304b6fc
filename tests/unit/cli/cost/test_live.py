"""Prices from the Pricing API."""

from decimal import Decimal
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from cli.cost.charges import NAT_GATEWAY, VOLUME, Price, Product, Unknown, charges_of, instance, lustre
from cli.cost.live import endpoint_region, listed_price, live_charges
from cli.errors import CommandError
from tests.unit.cli.cost.clusters import cluster
from tests.unit.cli.cost.fake_pricing import FakePricing, listed

P5 = instance("ml.p5.48xlarge")


def priced(product: Product, *items: str, region: str = "us-west-2") -> Price | Unknown:
    """What the API's list says of the product."""
    return listed_price(FakePricing(**{product.service: list(items)}), product, region)


def dollars(found: Price | Unknown) -> Decimal:
    """The price, which is known."""
    assert isinstance(found, Price), found
    return found.usd


def why(found: Price | Unknown) -> str:
    """Why the price is unknown."""
    assert isinstance(found, Unknown), found
    return found.why


def test_a_nodes_price_is_that_of_hyperpods_usage_type_and_of_no_other() -> None:
    found = priced(
        P5,
        listed("USW2-ReservedCluster:ml.p5.48xlarge", "us-west-2", "1"),
        listed("USW2-Studio:ml.p5.48xlarge", "us-west-2", "2"),
        listed("USW2-Cluster:ml.p5.48xlarge", "us-west-2", "66.25"),
        listed("USW2-Cluster:ml.p5.48xlargest", "us-west-2", "3"),
        listed("USE1-Cluster:ml.p5.48xlarge", "us-east-1", "4"),
    )
    assert dollars(found) == Decimal("66.25")


@pytest.mark.parametrize(
    ("product", "usage_type", "unit", "region"),
    [
        (NAT_GATEWAY, "NatGateway-Hours", "Hrs", "us-east-1"),  # the first region has no prefix
        (NAT_GATEWAY, "EU-NatGateway-Hours", "Hrs", "eu-west-1"),
        (NAT_GATEWAY, "APN1-NatGateway-Hours", "Hours", "ap-northeast-1"),
        (lustre(250), "USW2-Storage.SSD.250", "GB-Mo", "us-west-2"),
        (VOLUME, "USW2-Cluster:VolumeUsage.gp3", "GB-Mo", "us-west-2"),
    ],
)
def test_usage_types_are_found_with_the_prefixes_of_their_regions(
    product: Product, usage_type: str, unit: str, region: str
) -> None:
    assert dollars(priced(product, listed(usage_type, region, "0.5", unit), region=region)) == Decimal("0.5")


@pytest.mark.parametrize("usage_type", ["USW2-RegionalNatGateway-Hours", "USW2-LAX1-NatGateway-Hours", "USW2-NatGateway-Hours-x"])
def test_names_that_only_contain_the_usage_type_are_other_products(usage_type: str) -> None:
    reason = "the Pricing API lists no price of NatGateway-Hours in us-west-2, in US dollars per Hrs"
    assert why(priced(NAT_GATEWAY, listed(usage_type, "us-west-2", "0.5"))) == reason


def test_a_price_in_another_unit_or_currency_is_none() -> None:
    assert "lists no price" in why(priced(P5, listed("USW2-Cluster:ml.p5.48xlarge", "us-west-2", "9", "Seconds")))
    in_yuan = listed("CNN1-Cluster:ml.p5.48xlarge", "cn-north-1", "9", currency="CNY")
    assert "lists no price" in why(priced(P5, in_yuan, region="cn-north-1"))


def test_the_price_of_a_tier_is_that_of_the_first() -> None:
    tiers = [
        listed("USW2-Storage.SSD.250", "us-west-2", usd, "GB-Mo", begin=begin) for usd, begin in (("0.2", "0"), ("0.1", "500"))
    ]
    assert dollars(priced(lustre(250), *tiers)) == Decimal("0.2")


def test_several_prices_are_unknown_and_all_named() -> None:
    volumes = [
        listed(f"USW2-Cluster:VolumeUsage.{kind}", "us-west-2", usd, "GB-Mo") for kind, usd in (("gp3", "0.112"), ("gp2", "0.14"))
    ]
    reason = "the Pricing API lists several prices of Cluster:VolumeUsage in us-west-2: 0.112, 0.14"
    assert why(priced(VOLUME, *volumes)) == reason


def test_a_price_that_is_listed_twice_is_one() -> None:
    volumes = [listed(f"USW2-Cluster:VolumeUsage.{kind}", "us-west-2", "0.14", "GB-Mo") for kind in ("gp2", "gp3")]
    assert dollars(priced(VOLUME, *volumes)) == Decimal("0.14")


def test_a_price_says_which_of_the_lists_it_is_and_when_that_was_published() -> None:
    found = priced(P5, listed("USW2-Cluster:ml.p5.48xlarge", "us-west-2", "66.25"))
    assert isinstance(found, Price)
    assert found.source.startswith("Pricing API, USW2-Cluster:ml.p5.48xlarge, SKU")
    assert found.source.endswith(".JRTCKXETXF.6YS6EN2CT7, published 2026-11-20T00:00:00Z")


def test_the_api_is_asked_where_it_is() -> None:
    asked = {
        region: endpoint_region(region) for region in ("us-west-2", "eu-north-1", "ap-southeast-2", "sa-east-1", "cn-north-1")
    }
    assert list(asked.values()) == ["us-east-1", "eu-central-1", "ap-south-1", "us-east-1", "cn-northwest-1"]
    session = boto3.Session()
    there = {name for each in ("aws", "aws-cn") for name in session.get_available_regions("pricing", each)}
    assert set(asked.values()) == there


def test_all_lines_of_a_cluster_are_asked_for_at_one_endpoint() -> None:
    pricing = FakePricing(
        AmazonSageMaker=[
            listed("USW2-Cluster:ml.c5.xlarge", "us-west-2", "0.2"),
            listed("USW2-Cluster:ml.g5.8xlarge", "us-west-2", "3"),
        ],
        AmazonEC2=[listed("USW2-NatGateway-Hours", "us-west-2", "0.04")],
        AmazonVPC=[listed("USW2-PublicIPv4:InUseAddress", "us-west-2", "0.004")],
    )
    charges = live_charges(charges_of(cluster()), "us-west-2", pricing)
    assert [charge.per_hour for charge in charges] == [Decimal("0.2"), Decimal(12), Decimal("0.04"), Decimal("0.004")]
    assert pricing.clients == [("pricing", "us-east-1")]


def test_what_is_asked_is_what_the_service_takes() -> None:
    pricing = FakePricing()
    live_charges(charges_of(cluster(storage={"lustre": {}}, work={"volume_gib": 100})), "us-west-2", pricing)
    real = boto3.Session().client("pricing", region_name="us-east-1", aws_access_key_id="no", aws_secret_access_key="no")
    with Stubber(real) as stub:  # checks the parameters along the service model
        for asked in pricing.asked:
            stub.add_response("get_products", {"PriceList": []})
            real.get_products(**asked)
    assert len(pricing.asked) == 6


class Refusing:
    """A session whose client refuses."""

    def __init__(self, code: str, message: str) -> None:
        self.answer = {"Error": {"Code": code, "Message": message}}

    def client(self, *_: Any, **__: Any) -> "Refusing":
        return self

    def get_paginator(self, _: str) -> "Refusing":
        return self

    def paginate(self, **_: Any) -> dict[str, Any]:
        raise ClientError(self.answer, "GetProducts")


def test_a_refusal_is_reported_with_its_fix() -> None:
    with pytest.raises(CommandError, match=r"cannot run `cost`: .*not yours; use a role with this permission"):
        live_charges(charges_of(cluster()), "us-west-2", Refusing("AccessDeniedException", "not yours"))


def test_where_the_embedded_aws_is_asked_it_says_that_it_has_no_prices(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Refusing("500", "<!doctype html>")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:5000")
    with pytest.raises(CommandError, match=r"^http://127.0.0.1:5000 has no Pricing API; remove --live"):
        live_charges(charges_of(cluster()), "us-west-2", page)
    monkeypatch.delenv("AWS_ENDPOINT_URL")
    with pytest.raises(CommandError, match="cannot run `cost`"):
        live_charges(charges_of(cluster()), "us-west-2", page)
