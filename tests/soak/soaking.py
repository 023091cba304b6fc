"""Run many schedules, on one core or on all, until one fails."""

import multiprocessing
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.soak.richness import Richness
from tests.soak.schedule import Operation
from tests.soak.stack_run import Outcome
from tests.soak.subject import CLUSTER, SUBJECTS

CHUNK = 2000
"""Schedules that are drawn with one seed."""


@dataclass
class Result:
    """The counts, and the first schedule that failed."""

    richness: Richness = field(default_factory=Richness)
    failed: list[Operation] | None = None
    violations: list[str] = field(default_factory=list)


class _FoundError(BaseException):
    """Stops at a failed schedule; a BaseException, because Hypothesis would catch an Exception and retry."""


def soak(examples: int, seed: int, resource: str = CLUSTER) -> Result:
    """Run schedules on this core until one fails."""
    result = Result()

    def finished(schedule: list[Operation], outcome: Outcome) -> None:
        if result.richness.examples == examples:
            return
        result.richness.add(outcome)
        if outcome.violations:
            result.failed, result.violations = list(schedule), outcome.violations
            raise _FoundError

    try:
        SUBJECTS[resource].draw(examples, seed, finished)
    except _FoundError:
        return result
    return result


def soak_everywhere(examples: int, seed: int, workers: int, resource: str) -> Result:
    """Run schedules on ``workers`` cores until one fails, with the progress on stderr."""
    begin = time.monotonic()
    total = Result()
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        for result in pool.imap_unordered(_soak_chunk, _chunks(examples, seed, resource)):
            total.richness.merge(result.richness)
            took = time.monotonic() - begin
            done = total.richness.examples
            print(f"{done} of {examples} schedules in {took:.0f} s, {done / took:.0f} a second", file=sys.stderr)
            if result.failed is not None:
                total.failed, total.violations = result.failed, result.violations
                break
    return total


def _chunks(examples: int, seed: int, resource: str) -> Iterator[tuple[int, int, str]]:
    for index, start in enumerate(range(0, examples, CHUNK)):
        yield min(CHUNK, examples - start), seed * 1_000_000 + index, resource


def _soak_chunk(chunk: tuple[int, int, str]) -> Result:
    return soak(*chunk)
