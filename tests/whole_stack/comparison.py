"""The table of both implementations, fault by fault, and what each comes to."""

from dataclasses import dataclass, field

from tests.whole_stack.outcome import Outcome

WIDTH = 56
CELL = 50
CALLED = {"stock": "CDK's stock Provider", "ours": "ours"}


@dataclass
class Comparison:
    """The outcomes so far, by fault and implementation."""

    outcomes: dict[str, dict[str, Outcome]] = field(default_factory=dict)

    def note(self, title: str, kind: str, outcome: Outcome) -> None:
        """Take in one outcome."""
        self.outcomes.setdefault(title, {})[kind] = outcome

    def lines(self) -> list[str]:
        """The table, and below it what each implementation comes to; some faults only ours can have."""
        head = f"{'fault':<{WIDTH}}  {CALLED['stock']:<{CELL}}  ours"
        rows = [
            f"{title:<{WIDTH}}  {_cell(found.get('stock')):<{CELL}}  {_cell(found.get('ours'))}"
            for title, found in self.outcomes.items()
        ]
        return [head, *rows, *self.totals()]

    def totals(self) -> list[str]:
        """One line per implementation: how many faults it went through, and how many defects of each kind that left."""
        return [self._total(kind) for kind in CALLED]

    def of(self, kind: str) -> list[Outcome]:
        """All outcomes of one implementation."""
        return [found[kind] for found in self.outcomes.values() if kind in found]

    def _total(self, kind: str) -> str:
        found = self.of(kind)
        counts = {
            "clusters leaked": sum(each.leaked for each in found),
            "stacks wedged": sum(each.is_wedged for each in found),
            "reasons hidden": sum(each.is_hidden for each in found),
            "untrue successes": sum(each.is_untrue for each in found),
            "failed needlessly": sum(each.failed_needlessly for each in found),
        }
        return f"{CALLED[kind]}, {len(found)} faults: {', '.join(f'{count} {what}' for what, count in counts.items())}"


def _cell(outcome: Outcome | None) -> str:
    if outcome is None:
        return "has no such part"
    return f"{', '.join(outcome.defects) or 'as it must'}: {outcome.status}"
