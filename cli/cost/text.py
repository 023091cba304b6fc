"""An estimate for people."""

from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal

from cli.cost.estimate import Estimate, Line
from cli.cost.price import Price, Unknown
from cli.table import table

HEAD = ("US dollars", "", "per hour", "per month", "")
LIVE = "`--live` asks AWS's Pricing API, with credentials that may call pricing:GetProducts; it costs nothing"


def as_text(estimate: Estimate) -> str:
    """The estimate: a table, what is unknown, what to know, and where the prices are from."""
    sources = list(dict.fromkeys(_source(line.price) for line in estimate.lines if isinstance(line.price, Price)))
    parts = [
        [f"{estimate.file}: cluster {estimate.cluster} in {estimate.region}; a month has 730 hours"],
        [table(HEAD, _rows(estimate, sources))],
        [*_unknown(estimate)],
        [f"- {note}" for note in estimate.notes],
        [f"[{number}] {source}" for number, source in enumerate(sources, 1)],
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def _source(price: Price) -> str:
    return f"{price.date}, {price.source}"


def _rows(estimate: Estimate, sources: list[str]) -> Iterator[tuple[str, ...]]:
    section = ""
    for line in estimate.lines:
        if line.charge.section != section:
            section = line.charge.section
            yield section, "", "", "", ""
        cited = f"[{sources.index(_source(line.price)) + 1}]" if isinstance(line.price, Price) else ""
        yield f"  {line.charge.name}", line.charge.what, *_dollars(line), cited
    yield _total(estimate)


def _total(estimate: Estimate) -> tuple[str, ...]:
    hour, month = rounded(estimate.per_hour, 4), rounded(estimate.per_month, 2)
    if not estimate.unknown:
        return "total", "", hour, month, ""
    known, lines = len(estimate.lines) - len(estimate.unknown), len(estimate.lines)
    if estimate.is_unknown:
        return "total", f"of {known} of {lines} prices; no node's is known", "unknown", "unknown", ""
    return "total", f"of {known} of {lines} prices; the others are unknown", f"at least {hour}", f"at least {month}", ""


def _dollars(line: Line) -> tuple[str, str]:
    if line.per_hour is None or line.per_month is None:
        return "unknown", "unknown"
    return rounded(line.per_hour, 4), rounded(line.per_month, 2)


def rounded(dollars: Decimal, places: int) -> str:
    """The sum with so many decimal places."""
    return f"{dollars.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):,}"


def _unknown(estimate: Estimate) -> Iterator[str]:
    """Each line that is in no sum, with the reason."""
    if not estimate.unknown:
        return
    yield "unknown, and so not in the total:"
    for line in estimate.unknown:
        why = line.price.why if isinstance(line.price, Unknown) else ""
        yield f"- {line.charge.name}, {line.charge.what}: {why}"
    if estimate.is_offline:
        yield LIVE
