"""Run the operations of a schedule that every stack has."""

import contextlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from tests.soak.faults import Fault
from tests.soak.functions import FunctionsWorld
from tests.soak.schedule import Operation

Json = dict[str, Any]
World = TypeVar("World", bound=FunctionsWorld)
LONGEST_S = 7 * 3700
"""No request of CloudFormation's, with its wait, rollback and three clean-ups, is open for longer."""

QUIET_S = 300
NOVELTY = {"PropertiesVersion": "3", "Novelty": {"Since": "2"}}


@dataclass(frozen=True)
class Outcome:
    """The outcome of a schedule."""

    violations: list[str]
    calls: int
    has_crash: bool
    has_disorder: bool
    has_rollback: bool
    story: list[str]


class _Nowhere:
    """Discards the functions' logs."""

    def write(self, _: str) -> int:
        return 0

    def flush(self) -> None:
        """Do nothing."""


class StackRun(ABC, Generic[World]):
    """A running schedule."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.has_disorder = False

    def finish(self) -> Outcome:
        """End all faults, wait until nothing runs, and check."""
        with unlogged():
            self._finish()
        faults = self.world.faults
        return Outcome(
            violations=self.violations,
            calls=faults.calls,
            has_crash=faults.crashes > 0,
            has_disorder=self.has_disorder,
            has_rollback=bool(self.world.cloudformation.rollbacks),
            story=list(_story(self.world)),
        )

    @abstractmethod
    def _finish(self) -> None:
        """End all faults and wait until nothing runs."""

    @property
    def violations(self) -> list[str]:
        """The violations so far."""
        return self.world.violations

    def do(self, operation: Operation) -> None:
        """Run one operation."""
        with unlogged():
            getattr(self, f"_{operation['op']}")(operation)

    def _deploy(self, operation: Operation) -> None:
        if self.world.cloudformation.phase == "idle":
            self._pass_a_second()
            self.world.cloudformation.deploy(operation["file"], operation.get("then", ""))

    def _destroy(self, _: Operation) -> None:
        if self.world.cloudformation.phase in ("idle", "DELETE_FAILED", "UPDATE_ROLLBACK_FAILED"):
            self._pass_a_second()
            self.world.cloudformation.destroy()

    def _pass_a_second(self) -> None:
        """Give two user actions different dates: CloudFormation takes at least a second between them."""
        sent = [request.sent for request in self.world.cloudformation.requests.values()]
        if sent and (self.world.clock.now - sent[-1]).total_seconds() < 1:
            self.world.timeline.pass_time(1)

    def _cancel(self, _: Operation) -> None:
        self._pass_a_second()
        self.world.cloudformation.cancel()

    def _continue(self, _: Operation) -> None:
        self.world.cloudformation.go_on()

    def _skip(self, _: Operation) -> None:
        self.world.cloudformation.skip()

    def _wait(self, operation: Operation) -> None:
        self.world.timeline.pass_time(operation["seconds"])

    def _settle(self, _: Operation) -> None:
        world = self.world
        world.timeline.pass_time(LONGEST_S, until=lambda: world.is_at_rest)

    def _fault(self, operation: Operation) -> None:
        told = {key: value for key, value in operation.items() if key != "op"}
        self.world.faults.order(Fault(**told))

    def _deliver(self, operation: Operation) -> None:
        self.has_disorder |= operation["delays"] != [0]
        self.world.deliveries.append(operation["delays"])

    def _notice(self, operation: Operation) -> None:
        self.has_disorder |= operation["delays"] != [1]
        self.world.notices.append(operation["delays"])

    def _destination(self, operation: Operation) -> None:
        self.has_disorder |= operation["delays"] != [1]
        self.world.destinations.append(operation["delays"])
        self.world.latest_record_s = max(self.world.latest_record_s, *operation["delays"])

    def _lag(self, operation: Operation) -> None:
        self.world.states.lag_s = operation["seconds"]

    def _release(self, operation: Operation) -> None:
        """Switch to a newer release, or back to this one."""
        self.world.is_newer_release = operation["newer"]
        self.world.cloudformation.novelty = NOVELTY if operation["newer"] else {}

    def _mend(self) -> None:
        """End all faults."""
        world = self.world
        world.faults.forgive()
        world.deliveries.clear()
        world.notices.clear()
        world.destinations.clear()
        world.states.lag_s = 0


def unlogged() -> contextlib.redirect_stdout[Any]:
    """Discard the functions' logs."""
    return contextlib.redirect_stdout(_Nowhere())


def _story(world: FunctionsWorld) -> Iterable[str]:
    """Return the story, request by request."""
    for asked in world.cloudformation.requests.values():
        verdicts = {f"{item['Status']} {item['PhysicalResourceId']}: {item['Reason'][:160]}" for item in asked.answers}
        said = " | ".join(sorted(verdicts)) or "no answer"
        at = (asked.sent - world.began).total_seconds()
        files = f"{asked.old_file} -> {asked.file}" if asked.old_file else asked.file
        what = f"{asked.id} {asked.kind} ({asked.purpose}, {files}) {asked.physical_id}"
        yield f"{at:>7.0f} s {what} => {len(asked.answers)} x {said}"
    for fault in world.faults.happened:
        yield f"fault: {json.dumps(fault.__dict__)}"
