"""An estimate, for people and for programs."""

from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal

from cli.cost.charges import Charge
from cli.cost.estimate import Estimate, Line, Total
from cli.cost.price import HOURS_PER_MONTH, Price, Unknown
from cli.result import Block, Json, Table

LIVE = "`--live` adds prices from the AWS Pricing API (pricing:GetProducts, free)"


def as_text(estimate: Estimate) -> list[Block]:
    """Return a table of quantities, with dollars if there are prices, then notes and sources."""
    lines = estimate.lines
    parts: list[Block] = [f"{estimate.file}: cluster {estimate.cluster} in {estimate.region}; a month has 730 hours"]
    if lines is None:
        rows = [row for charge in estimate.charges for row in _rows(estimate, charge, (f"{charge.quantity:,}", charge.unit))]
        parts.append(Table(("usage", "", "per month", ""), rows))
    else:
        parts += _priced(estimate, lines)
    parts.append("\n".join(f"- {note}" for note in estimate.notes))
    if lines is None:
        parts.append(LIVE)
    elif sources := _sources(lines):
        parts.append("\n".join(f"[{number}] {source}" for number, source in enumerate(sources, 1)))
    return parts


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
    if estimate.lines is None:
        return data
    total = Total(estimate.lines)
    return {
        **data,
        "currency": "USD",
        "charges": [{**_fields(line.charge), **_price_fields(line)} for line in estimate.lines],
        "total": {
            "per_hour": None if total.is_unknown else _places(total.per_hour),
            "per_month": None if total.is_unknown else _places(total.per_month),
            "is_complete": not total.unknown,
        },
    }


def rounded(dollars: Decimal, places: int) -> str:
    """Return the sum with so many decimal places."""
    return f"{dollars.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):,}"


def _priced(estimate: Estimate, lines: tuple[Line, ...]) -> Iterator[Block]:
    sources, total = _sources(lines), Total(lines)
    rows = [row for line in lines for row in _rows(estimate, line.charge, (*_dollars(line), _cited(line, sources)))]
    yield Table(("US dollars", "", "per hour", "per month", ""), [*rows, _total(total)])
    if total.unknown:
        yield "\n".join(["unknown, and not in the total:", *(_reason(line) for line in total.unknown)])


def _rows(estimate: Estimate, charge: Charge, numbers: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the charge's row, below its section's name if it is the section's first."""
    if next(each for each in estimate.charges if each.section == charge.section) is charge:
        yield charge.section, "", *("" for _ in numbers)
    yield f"  {charge.name}", charge.what, *numbers


def _sources(lines: tuple[Line, ...]) -> list[str]:
    return list(dict.fromkeys(_source(line.price) for line in lines if isinstance(line.price, Price)))


def _source(price: Price) -> str:
    return f"{price.date}, {price.source}"


def _cited(line: Line, sources: list[str]) -> str:
    return f"[{sources.index(_source(line.price)) + 1}]" if isinstance(line.price, Price) else ""


def _dollars(line: Line) -> tuple[str, str]:
    if line.per_hour is None or line.per_month is None:
        return "unknown", "unknown"
    return rounded(line.per_hour, 4), rounded(line.per_month, 2)


def _total(total: Total) -> tuple[str, ...]:
    hour, month = rounded(total.per_hour, 4), rounded(total.per_month, 2)
    if not total.unknown:
        return "total", "", hour, month, ""
    known, lines = len(total.lines) - len(total.unknown), len(total.lines)
    if total.is_unknown:
        return "total", f"of {known} of {lines} prices; no node's is known", "unknown", "unknown", ""
    return "total", f"of {known} of {lines} prices; the others are unknown", f"at least {hour}", f"at least {month}", ""


def _reason(line: Line) -> str:
    return f"- {line.charge.name}, {line.charge.what}: {line.price.why if isinstance(line.price, Unknown) else ''}"


def _fields(charge: Charge) -> Json:
    return {
        "section": charge.section,
        "name": charge.name,
        "description": charge.what,
        "quantity_per_month": str(charge.quantity),
        "unit": charge.unit,
    }


def _price_fields(line: Line) -> Json:
    price = line.price
    return {
        "per_hour": None if line.per_hour is None else _places(line.per_hour),
        "per_month": None if line.per_month is None else _places(line.per_month),
        "price": {"usd": str(price.usd), "date": price.date, "source": price.source} if isinstance(price, Price) else None,
        "message": price.why if isinstance(price, Unknown) and line.per_month is None else None,
    }


def _places(dollars: Decimal) -> str:
    """Return the sum with eight decimal places, as price lists have."""
    return rounded(dollars, 8).replace(",", "")
