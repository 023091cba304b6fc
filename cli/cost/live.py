"""Prices from the AWS Pricing API, which is free and requires pricing:GetProducts."""

import json
import os
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from cli.access import Access, check_account, client_of
from cli.aws_errors import explained
from cli.cost.charges import Charge, Price, Product, Unit, Unknown, priced
from cli.errors import CommandError
from cli.pages import listed
from config.model import ClusterConfig

# The Pricing API has three endpoints in the commercial partition; each lists the prices of all regions:
# https://docs.aws.amazon.com/awsaccountbilling/latest/aboutv2/using-price-list-query-api.html
ENDPOINTS = {"ap": "ap-south-1", "eu": "eu-central-1", "cn": "cn-northwest-1"}

UNITS = {"Hrs": Unit.HOUR, "Hours": Unit.HOUR, "hours": Unit.HOUR, "GB-Mo": Unit.GB_MONTH, "GB-month": Unit.GB_MONTH}


def endpoint_region(region: str) -> str:
    """Return the region of the endpoint that lists the prices of this region."""
    return ENDPOINTS.get(region.partition("-")[0], "us-east-1")


def live_session(config: ClusterConfig, file: str, region: str, access: Access) -> Any:
    """Return a session of the account that the file names."""
    try:
        session = boto3.Session(profile_name=access.profile)
        check_account(config, file, client_of(session, "sts", region_name=region))
    except (ClientError, BotoCoreError) as error:
        raise explained("cost", error) from error
    return session


def live_charges(charges: Iterable[Charge], region: str, session: Any) -> tuple[Charge, ...]:
    """Return the charges with today's prices; raise a CommandError if AWS refuses or does not answer."""
    try:
        client = client_of(session, "pricing", region_name=endpoint_region(region))
        return priced(charges, lambda product: listed_price(client, product, region))
    except (ClientError, BotoCoreError) as error:
        raise _without_pricing(error) or explained("cost", error) from error


def _without_pricing(error: Exception) -> CommandError | None:
    """Return the error of an endpoint without a Pricing API, as the embedded AWS: it answers with HTML."""
    endpoint = os.environ.get("AWS_ENDPOINT_URL_PRICING") or os.environ.get("AWS_ENDPOINT_URL")
    if endpoint is None or not isinstance(error, ClientError) or not str(error.response["Error"]["Code"]).isdigit():
        return None
    return CommandError(f"{endpoint} has no Pricing API", "remove --live, or open a shell for an AWS account")


def listed_price(client: Any, product: Product, region: str) -> Price | Unknown:
    """Return the product's price in the region, if the Pricing API lists exactly one."""
    found = {price for item in _products(client, product, region) for price in _prices(item, product.unit)}
    if not found:
        return Unknown(f"the Pricing API lists no price of {product.usage_type} in {region}, in US dollars per {product.unit}")
    if len(dollars := {price.usd for price in found}) > 1:
        several = ", ".join(map(str, sorted(dollars)))
        return Unknown(f"the Pricing API lists several prices of {product.usage_type} in {region}: {several}")
    return min(found, key=lambda price: price.source)


def _products(client: Any, product: Product, region: str) -> Iterator[dict[str, Any]]:
    """Yield the list's items of the product; usage types that only contain its name are other products."""
    filters = [
        {"Type": "TERM_MATCH", "Field": "regionCode", "Value": region},
        {"Type": "CONTAINS", "Field": "usagetype", "Value": product.usage_type},
    ]
    asked: dict[str, Any] = {"ServiceCode": product.service, "Filters": filters, "FormatVersion": "aws_v1"}
    items = map(json.loads, listed(client, "get_products", "PriceList", **asked))
    yield from (item for item in items if product.is_named(_attribute(item, "usagetype")))


def _attribute(item: dict[str, Any], name: str) -> str:
    return str(item.get("product", {}).get("attributes", {}).get(name, ""))


def _prices(item: dict[str, Any], unit: Unit) -> Iterator[Price]:
    """Yield the on-demand prices per unit; of tiered prices, the first tier."""
    today = datetime.now(UTC).date().isoformat()
    for term in item.get("terms", {}).get("OnDemand", {}).values():
        for dimension in term["priceDimensions"].values():
            usd = dimension["pricePerUnit"].get("USD")
            if usd is not None and UNITS.get(dimension["unit"]) is unit and Decimal(dimension.get("beginRange", "0")) == 0:
                published = item.get("publicationDate", "")
                source = f"Pricing API, {_attribute(item, 'usagetype')}, {dimension['rateCode']}, published {published}"
                yield Price(Decimal(usd), today, source)
