"""Reduce a failing schedule while it still fails in the same way."""

from tests.soak.schedule import Operation
from tests.soak.stack_run import Outcome
from tests.soak.subject import CLUSTER, SUBJECTS


def kinds(outcome: Outcome) -> set[str]:
    """Return the names of the violated invariants."""
    return {violation.split(":")[0] for violation in outcome.violations}


def smallest(schedule: list[Operation], kind: str, resource: str = CLUSTER) -> list[Operation]:
    """Return the schedule without unnecessary operations."""
    run = SUBJECTS[resource].run
    index = len(schedule) - 1
    while index >= 0:
        shorter = schedule[:index] + schedule[index + 1 :]
        if kind in kinds(run(shorter)):
            schedule = shorter
        index = min(index, len(schedule)) - 1
    return schedule
