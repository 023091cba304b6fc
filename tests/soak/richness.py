"""Measure how much of the code's behaviour the schedules covered."""

import statistics
from dataclasses import dataclass, field

from tests.soak.stack_run import Outcome

MEDIAN_CALLS = 15
SHARES = {"crash": 0.30, "duplicate or reordering": 0.30, "cancel or rollback": 0.20}


@dataclass
class Richness:
    """The counts over all schedules."""

    calls: list[int] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SHARES, 0))
    violations: int = 0

    def add(self, outcome: Outcome) -> None:
        """Count one schedule."""
        self.calls.append(outcome.calls)
        self.violations += bool(outcome.violations)
        has = (outcome.has_crash, outcome.has_disorder, outcome.has_rollback)
        for name, is_there in zip(SHARES, has, strict=True):
            self.counts[name] += is_there

    def merge(self, other: "Richness") -> None:
        """Add other counts."""
        self.calls += other.calls
        self.violations += other.violations
        for name, count in other.counts.items():
            self.counts[name] += count

    @property
    def examples(self) -> int:
        """Return how many schedules were run."""
        return len(self.calls)

    def lines(self) -> list[str]:
        """Return a line for each measure, with its minimum."""
        total = max(self.examples, 1)
        shares = [f"with a {name}: {count / total:.0%} (at least {SHARES[name]:.0%})" for name, count in self.counts.items()]
        median = statistics.median(self.calls or [0])
        return [f"examples: {self.examples}", f"API calls, median: {median:g} (at least {MEDIAN_CALLS})", *shares]

    def poor(self) -> list[str]:
        """Return the measures that are too low."""
        total = max(self.examples, 1)
        low = [name for name, count in self.counts.items() if count / total < SHARES[name]]
        return (["API calls"] if statistics.median(self.calls or [0]) < MEDIAN_CALLS else []) + low
