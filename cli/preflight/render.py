"""The results of a preflight, for people and for programs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from cli.counted import counted
from cli.preflight.check import CheckResult, Outcome
from cli.result import Json

WIDTH = max(len(outcome) for outcome in Outcome)


def lines(results: Iterable[CheckResult]) -> Iterator[str]:
    """Yield a line for each result, and below it the fix and the link, if it has them."""
    for each in results:
        yield f"{each.outcome.value:<{WIDTH}}  {each.check}: {each.message}"
        yield from (f"{'':<{WIDTH}}    {more}" for more in (each.fix, each.link) if more)


def summary(results: Sequence[CheckResult]) -> str:
    """Return the number of each outcome: ``2 errors, 1 warning, 20 ok, 3 skipped``."""
    counts = Counter(each.outcome for each in results)
    parts = (counted(counts[Outcome.ERROR], "error"), counted(counts[Outcome.WARNING], "warning"))
    return ", ".join([*parts, f"{counts[Outcome.OK]} ok", f"{counts[Outcome.SKIPPED]} skipped"])


def as_data(cluster: str, results: Sequence[CheckResult]) -> Json:
    """Return the number of each outcome, and every result."""
    counts = {outcome.value: sum(each.outcome is outcome for each in results) for outcome in Outcome}
    return {"cluster": cluster, "counts": counts, "checks": [_fields(each) for each in results]}


def as_problems(results: Sequence[CheckResult]) -> list[Json]:
    """Return the errors and warnings."""
    found = (each for each in results if each.is_problem)
    return [
        {"level": each.outcome.value, "message": each.message, "fix": each.fix or None, "check": each.check} for each in found
    ]


def _fields(result: CheckResult) -> Json:
    return {
        "name": result.check,
        "result": result.outcome.value,
        "message": result.message,
        "fix": result.fix or None,
        "link": result.link or None,
    }
