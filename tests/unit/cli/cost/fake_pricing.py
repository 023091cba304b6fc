"""The Pricing API, as its answers are described: https://docs.aws.amazon.com/aws-cost-management/latest/APIReference/API_pricing_GetProducts.html."""

import json
from typing import Any

from botocore.exceptions import OperationNotPageableError


def listed(usage_type: str, region: str, usd: str, unit: str = "Hrs", *, currency: str = "USD", begin: str = "0") -> str:
    """A product with one price, as a text in JSON, which is what the API sends."""
    sku = f"SKU{abs(hash((usage_type, usd))) % 10**9}"
    dimension = {
        "rateCode": f"{sku}.JRTCKXETXF.6YS6EN2CT7",
        "unit": unit,
        "beginRange": begin,
        "endRange": "Inf",
        "pricePerUnit": {currency: usd},
    }
    product = {"sku": sku, "attributes": {"usagetype": usage_type, "regionCode": region}}
    terms = {"OnDemand": {f"{sku}.JRTCKXETXF": {"priceDimensions": {dimension["rateCode"]: dimension}}}}
    return json.dumps({"product": product, "terms": terms, "publicationDate": "2026-11-20T00:00:00Z", "version": "20261120"})


class FakePricing:
    """Answers GetProducts from a list, filtered as it is asked to, in pages of one product."""

    def __init__(self, **by_service: list[str]) -> None:
        self.by_service = by_service
        self.asked: list[dict[str, Any]] = []
        self.clients: list[tuple[str, str]] = []

    def client(self, service: str, *, region_name: str) -> "FakePricing":
        self.clients.append((service, region_name))
        return self

    def get_paginator(self, operation: str) -> Any:
        raise OperationNotPageableError(operation_name=operation)  # so that pages are followed here

    def get_products(self, **asked: Any) -> dict[str, Any]:
        self.asked.append(asked)
        found = [item for item in self.by_service.get(asked["ServiceCode"], ()) if self._matches(item, asked["Filters"])]
        start = int(asked.get("NextToken", "0"))
        more = {"NextToken": str(start + 1)} if start + 1 < len(found) else {}
        return {"FormatVersion": "aws_v1", "PriceList": found[start : start + 1], **more}

    def _matches(self, item: str, filters: list[dict[str, str]]) -> bool:
        attributes = json.loads(item)["product"]["attributes"]
        for each in filters:
            value = attributes.get(each["Field"], "")
            if not (each["Value"] in value if each["Type"] == "CONTAINS" else each["Value"] == value):
                return False
        return True
