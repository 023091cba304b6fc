"""How much the schedules that were run asked of the code."""

import statistics
from dataclasses import dataclass, field

from tests.soak.run import Outcome

MEDIAN_CALLS = 15
SHARES = {"crash": 0.30, "duplicate or reordering": 0.30, "cancel or rollback": 0.20}


@dataclass
class Richness:
    """What is counted, schedule by schedule."""

    calls: list[int] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(SHARES, 0))
    violations: int = 0

    def add(self, outcome: Outcome) -> None:
        """Count one more."""
        self.calls.append(outcome.calls)
        self.violations += bool(outcome.violations)
        has = (outcome.has_crash, outcome.has_disorder, outcome.has_rollback)
        for name, is_there in zip(SHARES, has, strict=True):
            self.counts[name] += is_there

    def merge(self, other: "Richness") -> None:
        """Count what another counted."""
        self.calls += other.calls
        self.violations += other.violations
        for name, count in other.counts.items():
            self.counts[name] += count

    @property
    def examples(self) -> int:
        """How many schedules were run."""
        return len(self.calls)

    def lines(self) -> list[str]:
        """The summary, a line for each measure, with what it must reach."""
        total = max(self.examples, 1)
        shares = [f"with a {name}: {count / total:.0%} (at least {SHARES[name]:.0%})" for name, count in self.counts.items()]
        median = statistics.median(self.calls or [0])
        return [f"examples: {self.examples}", f"API calls, median: {median:g} (at least {MEDIAN_CALLS})", *shares]

    def poor(self) -> list[str]:
        """The measures that are too low."""
        total = max(self.examples, 1)
        low = [name for name, count in self.counts.items() if count / total < SHARES[name]]
        return (["API calls"] if statistics.median(self.calls or [0]) < MEDIAN_CALLS else []) + low
