"""The expected cost of a verification, from today's prices or from a list."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from cli.cost.charges import Charge, Price, Product, Unknown, charges_of, priced
from cli.cost.live import live_charges
from cli.errors import CommandError
from config.model import ClusterConfig

# On-demand prices of us-west-2, for accounts that cannot read the Pricing API. `./hpod cost --live` has today's.
LIST = {
    "Cluster:ml.c5.xlarge": "0.204",
    "Cluster:ml.m5.large": "0.115",
    "NatGateway-Hours": "0.045",
    "PublicIPv4:InUseAddress": "0.005",
    "Storage.SSD.250": "0.210",
}


@dataclass(frozen=True)
class Cost:
    """The charges of an estimate, their sum for an hour, and the source of the prices."""

    charges: tuple[Charge, ...]
    source: str

    @property
    def per_hour(self) -> Decimal:
        """Return dollars in an hour."""
        return sum((each.per_hour or Decimal(0) for each in self.charges), Decimal(0))


def cost_of(config: ClusterConfig, region: str, session: Any) -> Cost:
    """Return the cost of a cluster, with prices of the Pricing API if the caller may read them."""
    charges = charges_of(config)
    try:
        live = live_charges(charges, region, session)
    except CommandError:
        live = ()
    if live and all(each.per_hour is not None for each in live):
        return Cost(live, "prices of the Pricing API")
    return Cost(_listed(charges), "list prices of us-west-2; the Pricing API did not answer")


def _listed(charges: list[Charge]) -> tuple[Charge, ...]:
    def price(product: Product) -> Price | Unknown:
        usd = LIST.get(product.usage_type)
        return Price(Decimal(usd), "", "list") if usd else Unknown("not in the list")

    return priced(charges, price)
