"""An estimate, for people and for programs."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from cli.cost.charges import GROUPS, HOURS_PER_MONTH, VOLUME, Charge, Price, Unknown
from cli.result import Block, Json, Table

LIVE = "`--live` adds prices from the AWS Pricing API (pricing:GetProducts, free)"


@dataclass(frozen=True)
class Estimate:
    """The charges of a cluster file; with prices if it ``is_live``."""

    file: str
    cluster: str
    region: str
    charges: tuple[Charge, ...]
    notes: tuple[str, ...]
    is_live: bool = False

    @property
    def per_month(self) -> Decimal:
        """Dollars in a month of 730 hours, of the charges whose price is known."""
        return sum((charge.per_month or Decimal(0) for charge in self.charges), Decimal(0))

    @property
    def per_hour(self) -> Decimal:
        """Dollars in an hour."""
        return self.per_month / HOURS_PER_MONTH

    @property
    def is_unknown(self) -> bool:
        """Whether no node's price is known, beside which all else is little."""
        nodes = [each for each in self.charges if each.section == GROUPS and each.product != VOLUME and each.amount]
        return bool(nodes) and all(each.per_month is None for each in nodes)

    @property
    def unknown(self) -> list[Charge]:
        """The charges without a price."""
        return [charge for charge in self.charges if charge.per_month is None]

    @property
    def sources(self) -> list[str]:
        """The sources of the prices, each once."""
        return list(dict.fromkeys(each.price.cited for each in self.charges if isinstance(each.price, Price)))


def as_text(estimate: Estimate) -> list[Block]:
    """Return a table of quantities, with dollars if there are prices, then notes and sources."""
    head = f"{estimate.file}: cluster {estimate.cluster} in {estimate.region}; a month has 730 hours"
    notes = "\n".join(f"- {note}" for note in estimate.notes)
    if not estimate.is_live:
        rows = [row for charge in estimate.charges for row in _rows(estimate, charge, (f"{charge.quantity:,}", charge.unit))]
        return [head, Table(("usage", "", "per month", ""), rows), notes, LIVE]
    sources = "\n".join(f"[{number}] {source}" for number, source in enumerate(estimate.sources, 1))
    return [head, *_priced(estimate), notes, *([sources] if sources else [])]


def as_data(estimate: Estimate) -> Json:
    """Return the estimate; sums are text, as no floating-point number is exact, and None if the price is unknown."""
    data: Json = {
        "file": estimate.file,
        "cluster": estimate.cluster,
        "region": estimate.region,
        "hours_per_month": int(HOURS_PER_MONTH),
        "charges": [_fields(charge) for charge in estimate.charges],
        "notes": list(estimate.notes),
    }
    if not estimate.is_live:
        return data
    total = {
        "per_hour": None if estimate.is_unknown else _exact(estimate.per_hour),
        "per_month": None if estimate.is_unknown else _exact(estimate.per_month),
        "is_complete": not estimate.unknown,
    }
    return {**data, "currency": "USD", "total": total}


def rounded(dollars: Decimal, places: int) -> str:
    """Return the sum with so many decimal places."""
    return f"{dollars.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):,}"


def _priced(estimate: Estimate) -> Iterator[Block]:
    rows = [row for charge in estimate.charges for row in _rows(estimate, charge, _dollars(charge, estimate.sources))]
    yield Table(("US dollars", "", "per hour", "per month", ""), [*rows, _total(estimate)])
    if estimate.unknown:
        reasons = (f"- {charge.name}, {charge.what}: {_reason(charge)}" for charge in estimate.unknown)
        yield "\n".join(["unknown, and not in the total:", *reasons])


def _rows(estimate: Estimate, charge: Charge, numbers: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the charge's row, below its section's name if it is the section's first."""
    if next(each for each in estimate.charges if each.section == charge.section) is charge:
        yield charge.section, "", *("" for _ in numbers)
    yield f"  {charge.name}", charge.what, *numbers


def _dollars(charge: Charge, sources: list[str]) -> tuple[str, str, str]:
    source = f"[{sources.index(charge.price.cited) + 1}]" if isinstance(charge.price, Price) else ""
    if charge.per_hour is None or charge.per_month is None:
        return "unknown", "unknown", source
    return rounded(charge.per_hour, 4), rounded(charge.per_month, 2), source


def _total(estimate: Estimate) -> tuple[str, ...]:
    hour, month = rounded(estimate.per_hour, 4), rounded(estimate.per_month, 2)
    if not estimate.unknown:
        return "total", "", hour, month, ""
    known, charges = len(estimate.charges) - len(estimate.unknown), len(estimate.charges)
    if estimate.is_unknown:
        return "total", f"of {known} of {charges} prices; no node's is known", "unknown", "unknown", ""
    return "total", f"of {known} of {charges} prices; the others are unknown", f"at least {hour}", f"at least {month}", ""


def _reason(charge: Charge) -> str | None:
    """Return why the sum is unknown."""
    return charge.price.why if isinstance(charge.price, Unknown) and charge.per_month is None else None


def _fields(charge: Charge) -> Json:
    quantity: Json = {
        "section": charge.section,
        "name": charge.name,
        "description": charge.what,
        "quantity_per_month": str(charge.quantity),
        "unit": charge.unit,
    }
    price = charge.price
    if price is None:
        return quantity
    return {
        **quantity,
        "per_hour": None if charge.per_hour is None else _exact(charge.per_hour),
        "per_month": None if charge.per_month is None else _exact(charge.per_month),
        "price": {"usd": str(price.usd), "date": price.date, "source": price.source} if isinstance(price, Price) else None,
        "message": _reason(charge),
    }


def _exact(dollars: Decimal) -> str:
    """Return the sum with eight decimal places, as price lists have."""
    return rounded(dollars, 8).replace(",", "")
