"""The expected cost of a verification, from today's prices or from a list."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from cli.cost.charges import Charge, charges_of
from cli.cost.estimate import Line, Total, lines_of
from cli.cost.live import live_lines
from cli.cost.price import Price, Product, Unknown
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
    """The lines of an estimate, their sum for an hour, and the source of the prices."""

    lines: tuple[Line, ...]
    source: str

    @property
    def per_hour(self) -> Decimal:
        """Return dollars in an hour."""
        return Total(self.lines).per_hour


def cost_of(config: ClusterConfig, region: str, session: Any) -> Cost:
    """Return the cost of a cluster, with prices of the Pricing API if the caller may read them."""
    charges = charges_of(config)
    try:
        lines = live_lines(charges, region, session)
    except CommandError:
        lines = ()
    if lines and not Total(lines).unknown:
        return Cost(lines, "prices of the Pricing API")
    return Cost(_listed(charges, region), "list prices of us-west-2; the Pricing API did not answer")


def _listed(charges: list[Charge], region: str) -> tuple[Line, ...]:
    def price(product: Product, _: str) -> Price | Unknown:
        usd = LIST.get(product.usage_type)
        return Price(Decimal(usd), "", "list") if usd else Unknown("not in the list")

    return lines_of(charges, region, price)
