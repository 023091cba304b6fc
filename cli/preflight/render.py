"""A preflight's findings, for people and for programs."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from cli.preflight.finding import Finding, Outcome

WIDTH = max(len(outcome) for outcome in Outcome)


def lines(findings: Iterable[Finding]) -> Iterator[str]:
    """A line for each finding, and below it the remedy and the link, if it has them."""
    for each in findings:
        yield f"{each.outcome.value:<{WIDTH}}  {each.check}: {each.said}"
        yield from (f"{'':<{WIDTH}}    {more}" for more in (each.remedy, each.link) if more)


def counted(findings: Sequence[Finding]) -> str:
    """How many ended how: ``2 errors, 1 warning, 20 ok, 3 not asked``."""
    counts = Counter(each.outcome for each in findings)
    parts = (_number(counts[Outcome.ERROR], "error"), _number(counts[Outcome.WARNING], "warning"))
    return ", ".join([*parts, f"{counts[Outcome.OK]} ok", f"{counts[Outcome.NOT_ASKED]} not asked"])


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def as_json(cluster: str, findings: Sequence[Finding]) -> str:
    """One object: the number of each outcome, and every finding with all that is known of it."""
    counts = {outcome.value: sum(each.outcome is outcome for each in findings) for outcome in Outcome}
    told = [
        {
            "check": each.check,
            "outcome": each.outcome.value,
            "message": each.said,
            "remedy": each.remedy or None,
            "link": each.link or None,
        }
        for each in findings
    ]
    return json.dumps({"version": 1, "cluster": cluster, "counts": counts, "findings": told}, indent=2, ensure_ascii=False)
