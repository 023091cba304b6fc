"""Drawn schedules: a stack is created, updated, cancelled and deleted while calls fail and others change its resources."""

import os
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, Generic

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from tests.unit.cluster_resource.calls_world import Json, W
from tests.unit.cluster_resource.fake_states import FunctionDied

HOUR_S = 3600
DIES = [("before", FunctionDied("before")), ("after", FunctionDied("after"))]


@dataclass
class Fault:
    """What happens before or after a call, counted from the start of its request."""

    index: int
    what: tuple[str, Any]


@dataclass
class Change:
    """A change of the stack: its next file, its faults, what others do before it, and when it is cancelled."""

    file: dict[str, Any]
    faults: list[Fault]
    outside: str
    cancelled_after_s: int | None
    is_delivered_twice: bool


def schedules(files: st.SearchStrategy[Any], faults: list[tuple[str, Any]], outside: list[str], calls: int) -> tuple[Any, ...]:
    """Return how to draw the first file, its faults, and the changes."""
    drawn = st.lists(st.builds(Fault, st.integers(0, calls), st.sampled_from([*DIES, *faults])), max_size=2)
    cancelled = st.one_of(st.none(), st.sampled_from([0, 20, 40, 65, 100]))
    changes = st.builds(Change, files, drawn, st.sampled_from(["", "", *outside]), cancelled, st.booleans())
    return files, drawn, st.lists(changes, max_size=4)


def drawn(examples: int) -> settings:
    """Return settings that always draw the same schedules; `make soak-ci` draws more."""
    return settings(
        max_examples=int(os.environ.get("SCHEDULES", examples)),
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )


@dataclass
class DrawnStack(ABC, Generic[W]):
    """CloudFormation's side, and what must hold."""

    world: W
    current: list[Json] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    working: str = ""

    def __post_init__(self) -> None:
        step = self.world._step

        def watched(payload: Json) -> Json:
            self.working = payload["event"]["RequestId"]
            return step(payload)

        self.world.states._invoke = watched

    @abstractmethod
    def items_of(self, file: dict[str, Any]) -> list[Json]:
        """Return the items of a file."""

    @abstractmethod
    def act(self, what: str) -> None:
        """Change the items as another client."""

    @abstractmethod
    def check(self) -> None:
        """Check that the service has exactly the items of the stack, and those of others."""

    @abstractmethod
    def check_deleted(self) -> None:
        """Check that the service has only the items of others."""

    def may_fail(self, _outside: str) -> bool:
        """Return whether a request may fail until `repair`."""
        return False

    def repair(self) -> None:
        """Do what the error says."""

    def check_fence(self, *, is_read: bool) -> None:
        """Check that a request writes nothing after a newer one was answered."""
        newer = self.requests[self.requests.index(self.working) + 1 :]
        assert is_read or not any(each in self.world.responses for each in newer)

    def live(self, first: dict[str, Any], first_faults: list[Fault], changes: list[Change]) -> None:
        """Create the stack, change it and delete it."""
        self.plan(first_faults)
        self.current = self.items_of(first)
        assert self.answer(self.send("Create", self.current, None))["Status"] == "SUCCESS"
        self.check()
        for change in changes:
            self.world.clock.advance(300)
            self.change(change)
        self.world.clock.advance(300)
        done = self.answer(self.send("Delete", self.current, None))
        assert done["Status"] == "SUCCESS", done["Reason"]
        self.check_deleted()

    def plan(self, faults: list[Fault]) -> None:
        """Plan the faults of the next request; those that did not happen are over."""
        service = self.world.service
        service.before.clear()
        service.after.clear()
        for fault in faults:
            moment, error = fault.what
            getattr(service, moment)[len(service.calls) + fault.index] = error

    def send(self, kind: str, new: list[Json], old: list[Json] | None, *, twice: bool = False) -> Json:
        self.world.clock.advance(1)
        raw = self.world.request(kind, new, old)
        self.requests.append(raw["RequestId"])
        for _ in range(2 if twice else 1):
            self.world.deliver(raw)
        return raw

    def answer(self, raw: Json) -> Json:
        """Let time pass until the response."""
        started = self.world.clock.now
        while raw["RequestId"] not in self.world.responses:
            assert (self.world.clock.now - started).total_seconds() < HOUR_S, "no response within an hour"
            self.world.run(30)
        return self.world.response(raw)

    def change(self, change: Change) -> None:
        """Update the stack; if the update fails or is cancelled, roll it back."""
        new, old = self.items_of(change.file), self.current
        self.act(change.outside)
        is_expected = self.may_fail(change.outside)
        self.plan(change.faults)
        raw = self.send("Update", new, old, twice=change.is_delivered_twice)
        if change.cancelled_after_s is not None:
            self.world.run(change.cancelled_after_s)
        if change.cancelled_after_s is None or raw["RequestId"] in self.world.responses:
            done = self.answer(raw)
            if done["Status"] == "SUCCESS":
                self.current = new
                self.check()
                return
            assert is_expected, done["Reason"]
            self.repair()
        undone = self.answer(self.send("Update", old, new))
        if undone["Status"] != "SUCCESS":
            assert is_expected, undone["Reason"]
            self.repair()
            undone = self.answer(self.send("Update", old, new))
        assert undone["Status"] == "SUCCESS", undone["Reason"]
        self.check()
