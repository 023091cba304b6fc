"""What a cluster costs: its charges with their prices, and the sums of what is known."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal

from cli.cost.charges import GROUPS, Charge
from cli.cost.price import HOURS_PER_MONTH, VOLUME, Price, Product, Unit, Unknown

Prices = Callable[[Product, str], Price | Unknown]


@dataclass(frozen=True)
class Line:
    """A charge with its price, or with why there is none."""

    charge: Charge
    price: Price | Unknown

    @property
    def per_month(self) -> Decimal | None:
        """Dollars in a month of 730 hours, exactly; None where the price is unknown. Nothing of anything is free."""
        if not self.charge.amount:
            return Decimal(0)
        if isinstance(self.price, Unknown) or isinstance(self.charge.product, Unknown):
            return None
        hours = HOURS_PER_MONTH if self.charge.product.unit is Unit.HOUR else 1
        return self.charge.amount * self.price.usd * hours

    @property
    def per_hour(self) -> Decimal | None:
        """Dollars in an hour."""
        return None if self.per_month is None else self.per_month / HOURS_PER_MONTH


@dataclass(frozen=True)
class Estimate:
    """What the cluster of a file costs in a region."""

    file: str
    cluster: str
    region: str
    lines: tuple[Line, ...]
    notes: tuple[str, ...]
    # Whether the prices are of a file, and could be asked for.
    is_offline: bool

    @property
    def per_month(self) -> Decimal:
        """Dollars of what is known, in a month of 730 hours."""
        return sum((line.per_month or Decimal(0) for line in self.lines), Decimal(0))

    @property
    def per_hour(self) -> Decimal:
        """Dollars of what is known, in an hour."""
        return self.per_month / HOURS_PER_MONTH

    @property
    def is_unknown(self) -> bool:
        """Whether no node's price is known, next to which all else is little."""
        nodes = [
            each for each in self.lines if each.charge.section == GROUPS and each.charge.product != VOLUME and each.charge.amount
        ]
        return bool(nodes) and all(each.per_month is None for each in nodes)

    @property
    def unknown(self) -> list[Line]:
        """The lines without a price: the sums are not less than what is known."""
        return [line for line in self.lines if line.per_month is None]


def lines_of(charges: Iterable[Charge], region: str, prices: Prices) -> tuple[Line, ...]:
    """The charges with their prices in the region; each product is asked for once, and none of which there is nothing."""
    known: dict[Product, Price | Unknown] = {}

    def price(charge: Charge) -> Price | Unknown:
        if isinstance(charge.product, Unknown):
            return charge.product
        if not charge.amount:
            return Unknown("there is none of it")
        if charge.product not in known:
            known[charge.product] = prices(charge.product, region)
        return known[charge.product]

    return tuple(Line(charge, price(charge)) for charge in charges)
