"""How a fault ended: what is left, what is stuck, what nobody was told."""

from dataclasses import dataclass

from local_aws import durations, faults
from local_aws.clock import clock
from local_aws.hyperpod import quotas
from tests.whole_stack.assemblies import SMALL
from tests.whole_stack.scenarios import CREATED, NOT_CREATED, NOT_UPDATED, UPDATED, Scenario
from tests.whole_stack.world import GONE, NO_ANSWER, World

EMPTY = (GONE, NOT_CREATED)
"""Statuses in which CloudFormation says that there is nothing (more)."""


@dataclass(frozen=True)
class Outcome:
    """What was seen after one fault."""

    status: str
    expected: str
    leaked: int
    is_wedged: bool
    is_hidden: bool
    is_untrue: bool
    minutes: float

    @property
    def failed_needlessly(self) -> bool:
        """Whether it ended otherwise than it must, in none of the worse ways: a fault that passes was not waited out."""
        return self.status != self.expected and not (self.is_wedged or self.is_untrue)

    @property
    def defects(self) -> list[str]:
        """Each defect in a word or two; none where all went as it must."""
        found = {
            f"leaked {self.leaked}": bool(self.leaked),
            "wedged": self.is_wedged,
            "reason hidden": self.is_hidden,
            "untrue success": self.is_untrue,
            "failed needlessly": self.failed_needlessly,
        }
        return [words for words, is_so in found.items() if is_so]


def suffer(scenario: Scenario, world: World) -> Outcome:
    """Let it happen, and look."""
    if scenario.is_live_before:
        _make_live(world)
    else:
        world.clear()
    seen = {event["EventId"] for event in world.events()}
    begin = clock.seconds()
    try:
        scenario.happens(world)
        if untouched := world.untouched():
            raise LookupError(f"it did not happen: {untouched}")
        return _look(scenario, world, seen, (clock.seconds() - begin) / 60)
    finally:
        world.ordered.clear()
        for order in (faults, quotas, durations):
            order.reset()


def _make_live(world: World) -> None:
    """A stack that stands, with a small cluster."""
    is_live = world.status() in (CREATED, NOT_UPDATED) and len(world.clusters()) == 1 and world.workers() == SMALL
    if is_live:
        return
    world.clear()
    if not world.deploy(SMALL):
        raise RuntimeError(f"nothing was ordered, and yet it failed: {world.printed[-1]}")


def _look(scenario: Scenario, world: World, seen: set[str], minutes: float) -> Outcome:
    status = world.status()
    new = [event for event in world.events() if event["EventId"] not in seen]
    texts = " ".join(event.get("ResourceStatusReason", "") for event in new)
    clusters = world.clusters()
    is_empty = status in EMPTY
    return Outcome(
        status=status,
        expected=scenario.ends,
        leaked=len(clusters) if is_empty else max(0, len(clusters) - 1),
        is_wedged=status.endswith("_FAILED") or NO_ANSWER in texts,
        is_hidden=scenario.reason not in texts,
        is_untrue=_is_untrue(scenario, world, status),
        minutes=minutes,
    )


def _is_untrue(scenario: Scenario, world: World, status: str) -> bool:
    """Whether CloudFormation was told of a success that is none."""
    if status != scenario.ends:
        return status in (CREATED, UPDATED) and scenario.ends in (NOT_CREATED, NOT_UPDATED)
    return status not in EMPTY and (len(world.clusters()) != 1 or world.workers() != scenario.workers)
