"""A schedule that fails, made smaller while it fails in the same way."""

from tests.soak.run import Outcome, run
from tests.soak.schedule import Operation


def kinds(outcome: Outcome) -> set[str]:
    """The invariants that do not hold, by name."""
    return {violation.split(":")[0] for violation in outcome.violations}


def smallest(schedule: list[Operation], kind: str) -> list[Operation]:
    """The schedule without any operation that it can do without."""
    index = len(schedule) - 1
    while index >= 0:
        shorter = schedule[:index] + schedule[index + 1 :]
        if kind in kinds(run(shorter)):
            schedule = shorter
        index = min(index, len(schedule)) - 1
    return schedule
