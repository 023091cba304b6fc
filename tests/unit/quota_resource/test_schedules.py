"""Drawn schedules: a stack is created, updated, cancelled and deleted while calls fail and others change the quotas."""

import os
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.unit.cluster_resource.fake_states import FunctionDied
from tests.unit.quota_resource.fake_quotas import READS, FakeQuota, refusal
from tests.unit.quota_resource.quota_world import QuotaWorld, quota
from tests.unit.quota_resource.quota_world import settings as expected

Json = dict[str, Any]
EXAMPLES = int(os.environ.get("SCHEDULES", "40"))
"""`make soak-ci` draws more."""
HOUR_S = 3600


@dataclass
class Fault:
    """A fault at a call, counted from the start of its request."""

    index: int
    kind: str

    def plan(self, world: QuotaWorld) -> None:
        number = len(world.quotas.calls) + self.index
        if self.kind == "dies before":
            world.quotas.before[number] = FunctionDied(self.kind)
        elif self.kind == "dies after":
            world.quotas.after[number] = FunctionDied(self.kind)
        elif self.kind == "reply is lost":
            world.quotas.after[number] = refusal("InternalFailure", "lost", 500)
        else:
            world.quotas.before[number] = refusal(self.kind, "later")


@dataclass
class Change:
    """A change of the stack: its next file, its faults, what others do before it, and when it is cancelled."""

    file: dict[str, int]
    faults: list[Fault]
    outside: str
    cancelled_after_s: int | None


files = st.dictionaries(st.sampled_from(["vision", "speech", "robots", "agents"]), st.integers(1, 3), min_size=1)
faults = st.builds(
    Fault,
    st.integers(0, 40),
    st.sampled_from(["dies before", "dies after", "reply is lost", "ThrottlingException", "ConflictException"]),
)
changes = st.builds(
    Change,
    files,
    st.lists(faults, max_size=2),
    st.sampled_from(["", "", "deletes", "changes", "adds another team"]),
    st.one_of(st.none(), st.sampled_from([0, 40, 65, 100])),
)


def quotas_of(file: dict[str, int]) -> list[Json]:
    return [quota(team, count) for team, count in file.items()]


@dataclass
class Stack:
    """CloudFormation's side, and what must hold."""

    world: QuotaWorld = field(default_factory=QuotaWorld)
    current: list[Json] = field(default_factory=list)
    others: list[FakeQuota] = field(default_factory=list)

    def send(self, kind: str, new: list[Json], old: list[Json] | None) -> Json:
        self.world.clock.advance(1)
        return self.world.deliver(self.world.request(kind, new, old))

    def answer(self, raw: Json) -> Json:
        """Let time pass until the response."""
        started = self.world.clock.now
        while raw["RequestId"] not in self.world.responses:
            assert (self.world.clock.now - started).total_seconds() < HOUR_S, "no response within an hour"
            self.world.run(30)
        return self.world.response(raw)

    def change(self, step: Change) -> None:
        new, old = quotas_of(step.file), self.current
        self.act(step.outside)
        self.plan(step.faults)
        raw = self.send("Update", new, old)
        if step.cancelled_after_s is not None:
            self.world.run(step.cancelled_after_s)
        if step.cancelled_after_s is None or raw["RequestId"] in self.world.responses:
            done = self.answer(raw)
            assert done["Status"] == "SUCCESS", done["Reason"]
            self.current = new
        else:
            undone = self.answer(self.send("Update", old, new))
            assert undone["Status"] == "SUCCESS", undone["Reason"]
        self.check(self.current)

    def plan(self, faults: list[Fault]) -> None:
        """Plan the faults of the next request; those that did not happen are over."""
        self.world.quotas.before.clear()
        self.world.quotas.after.clear()
        for fault in faults:
            fault.plan(self.world)

    def act(self, what: str) -> None:
        """Change the quotas as another client."""
        ours = [each for each in self.world.quotas.all.values() if each not in self.others]
        if what == "deletes" and ours:
            del self.world.quotas.all[ours[0].id]
        if what == "changes" and ours:
            ours[0].settings = {**ours[0].settings, "ComputeQuotaConfig": {}}
        if what == "adds another team":
            self.others.append(self.world.quotas.add(f"guests{len(self.others)}"))

    def check(self, quotas: list[Json]) -> None:
        """The cluster has exactly the quotas of the file, and those of others."""
        assert self.world.ours() == expected(quotas)
        assert all(self.world.quotas.all[other.id] is other for other in self.others)
        assert len(self.world.quotas.all) == len(quotas) + len(self.others)

    def delete(self) -> None:
        done = self.answer(self.send("Delete", self.current, None))
        assert done["Status"] == "SUCCESS", done["Reason"]
        self.check([])
        before = len(self.world.quotas.calls)
        self.world.run(HOUR_S)
        assert all(operation.startswith(READS) for operation, _ in self.world.quotas.calls[before:])


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)
@given(files, st.lists(faults, max_size=2), st.lists(changes, max_size=4))
def test_the_cluster_has_the_quotas_of_the_stack(first: dict[str, int], first_faults: list[Fault], steps: list[Change]) -> None:
    stack = Stack()
    stack.plan(first_faults)
    stack.current = quotas_of(first)
    assert stack.answer(stack.send("Create", stack.current, None))["Status"] == "SUCCESS"
    stack.check(stack.current)
    for step in steps:
        stack.world.clock.advance(300)
        stack.change(step)
    stack.world.clock.advance(300)
    stack.delete()
