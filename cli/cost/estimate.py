"""The quantities of a cluster per month and, with prices, the costs."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal

from cli.cost.charges import GROUPS, Charge
from cli.cost.price import HOURS_PER_MONTH, VOLUME, Price, Product, Unknown

Prices = Callable[[Product, str], Price | Unknown]


@dataclass(frozen=True)
class Line:
    """A charge with its price, or the reason why it has none."""

    charge: Charge
    price: Price | Unknown

    @property
    def per_month(self) -> Decimal | None:
        """Exact dollars in a month of 730 hours; None if the price is unknown. A group without nodes is free."""
        if not self.charge.amount:
            return Decimal(0)
        return None if isinstance(self.price, Unknown) else self.charge.quantity * self.price.usd

    @property
    def per_hour(self) -> Decimal | None:
        """Dollars in an hour."""
        return None if self.per_month is None else self.per_month / HOURS_PER_MONTH


@dataclass(frozen=True)
class Estimate:
    """The charges of a cluster file; ``lines`` adds prices, if they were requested."""

    file: str
    cluster: str
    region: str
    charges: tuple[Charge, ...]
    notes: tuple[str, ...]
    lines: tuple[Line, ...] | None = None


@dataclass(frozen=True)
class Total:
    """The sum of the lines whose price is known."""

    lines: tuple[Line, ...]

    @property
    def per_month(self) -> Decimal:
        """Dollars in a month of 730 hours."""
        return sum((line.per_month or Decimal(0) for line in self.lines), Decimal(0))

    @property
    def per_hour(self) -> Decimal:
        """Dollars in an hour."""
        return self.per_month / HOURS_PER_MONTH

    @property
    def is_unknown(self) -> bool:
        """Whether no node's price is known, beside which all else is little."""
        nodes = [
            each for each in self.lines if each.charge.section == GROUPS and each.charge.product != VOLUME and each.charge.amount
        ]
        return bool(nodes) and all(each.per_month is None for each in nodes)

    @property
    def unknown(self) -> list[Line]:
        """The lines without a price."""
        return [line for line in self.lines if line.per_month is None]


def lines_of(charges: Iterable[Charge], region: str, prices: Prices) -> tuple[Line, ...]:
    """Return the charges with their prices in the region; ask for each product once, and not for groups without nodes."""
    known: dict[Product, Price | Unknown] = {}

    def price(charge: Charge) -> Price | Unknown:
        if isinstance(charge.product, Unknown):
            return charge.product
        if not charge.amount:
            return Unknown("amount is 0")
        if charge.product not in known:
            known[charge.product] = prices(charge.product, region)
        return known[charge.product]

    return tuple(Line(charge, price(charge)) for charge in charges)
