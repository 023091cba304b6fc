"""An estimate for programs."""

import json
from decimal import Decimal

from cli.cost.estimate import Estimate, Line
from cli.cost.price import HOURS_PER_MONTH, Price, Unknown
from cli.cost.text import rounded


def as_json(estimate: Estimate) -> str:
    """The estimate as JSON; sums are texts, as no floating-point number is one, and null where the price is unknown."""
    document = {
        "file": estimate.file,
        "cluster": estimate.cluster,
        "region": estimate.region,
        "currency": "USD",
        "hours_per_month": int(HOURS_PER_MONTH),
        "lines": [_line(line) for line in estimate.lines],
        "total": {
            "per_hour": None if estimate.is_unknown else _places(estimate.per_hour),
            "per_month": None if estimate.is_unknown else _places(estimate.per_month),
            "is_complete": not estimate.unknown,
        },
        "notes": list(estimate.notes),
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def _line(line: Line) -> dict[str, object]:
    price = line.price
    return {
        "section": line.charge.section,
        "name": line.charge.name,
        "what": line.charge.what,
        "per_hour": None if line.per_hour is None else _places(line.per_hour),
        "per_month": None if line.per_month is None else _places(line.per_month),
        "price": {"usd": str(price.usd), "date": price.date, "source": price.source} if isinstance(price, Price) else None,
        "unknown": price.why if isinstance(price, Unknown) and line.per_month is None else None,
    }


def _places(dollars: Decimal) -> str:
    """The sum with eight places, of which the price list itself uses as many."""
    return rounded(dollars, 8).replace(",", "")
