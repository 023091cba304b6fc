"""Drawn schedules: a stack is created, updated, cancelled and deleted while calls fail and others change the cluster."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.unit.cluster_resource.fake_states import FunctionDied
from tests.unit.kubernetes_resource.api_server import Place
from tests.unit.kubernetes_resource.dependencies_world import (
    INVENTORY,
    DependenciesWorld,
    account,
    config_map,
    custom,
    daemon_set,
    definition,
    names,
    namespace,
    role,
)

Json = dict[str, Any]
EXAMPLES = int(os.environ.get("SCHEDULES", "60"))
"""`make soak-ci` draws more."""
HOUR_S = 3600
SUPERSEDED = "superseded"

POOL: dict[str, Callable[[str], list[Json]]] = {
    "definition": lambda _: [definition(), custom()],
    "role": lambda verb: [role(verb=verb)],
    "settings": lambda value: [namespace(), config_map(a=value)],
    "agent": lambda image: [namespace(), account(), daemon_set(image=image)],
}


def objects_of(file: dict[str, str]) -> list[Json]:
    found = {str(item): item for name, variant in file.items() for item in POOL[name](variant)}
    return list(found.values())


@dataclass
class Fault:
    """What happens at a call, counted from the start of its request."""

    index: int
    kind: str

    def plan(self, world: DependenciesWorld) -> None:
        number = len(world.server.calls) + self.index
        if self.kind == "dies before":
            world.server.before[number] = FunctionDied(self.kind)
        elif self.kind == "dies after":
            world.server.after[number] = FunctionDied(self.kind)
        elif self.kind == "times out after":
            world.server.after[number] = TimeoutError("timed out")
        else:
            world.server.before[number] = (int(self.kind), {"message": "later"})


@dataclass
class Change:
    """One change of the stack: its next file, its faults, what others do before it, and when it is cancelled."""

    file: dict[str, str]
    faults: list[Fault]
    outside: str
    cancelled_after_s: int | None
    is_delivered_twice: bool


files = st.dictionaries(st.sampled_from(sorted(POOL)), st.sampled_from(["a", "b"]), min_size=1)
faults = st.builds(
    Fault,
    st.integers(0, 60),
    st.sampled_from(["dies before", "dies after", "times out after", "429", "500", "503"]),
)
outside = st.sampled_from(["", "", "conflict", "takes role", "deletes role", "deletes inventory", "pod", "custom resource"])
changes = st.builds(
    Change,
    files,
    st.lists(faults, max_size=2),
    outside,
    st.one_of(st.none(), st.sampled_from([0, 20, 40, 65, 100])),
    st.booleans(),
)


@dataclass
class Stack:
    """CloudFormation's side, and what must hold."""

    world: DependenciesWorld = field(default_factory=DependenciesWorld)
    current: list[Json] = field(default_factory=list)
    foreign: set[str] = field(default_factory=set)
    requests: list[str] = field(default_factory=list)
    working: str = ""

    def __post_init__(self) -> None:
        step = self.world._step

        def watched(payload: Json) -> Json:
            self.working = payload["event"]["RequestId"]
            return step(payload)

        self.world.states._invoke = watched
        self.world.server.on_call = self._check_fence

    def _check_fence(self, method: str, _place: Place) -> None:
        """A request writes nothing after a newer one was answered."""
        newer = self.requests[self.requests.index(self.working) + 1 :]
        assert method == "GET" or not any(each in self.world.responses for each in newer)

    def plan(self, faults: list[Fault]) -> None:
        """Plan the faults of the next request; those that did not happen are over."""
        self.world.server.before.clear()
        self.world.server.after.clear()
        for fault in faults:
            fault.plan(self.world)

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

    def change(self, step: Change) -> None:
        new, old = objects_of(step.file), self.current
        self.act(step.outside)
        is_expected = step.outside == "conflict" or self.is_role_taken()
        self.plan(step.faults)
        raw = self.send("Update", new, old, twice=step.is_delivered_twice)
        if step.cancelled_after_s is not None:
            self.world.run(step.cancelled_after_s)
        if step.cancelled_after_s is None or raw["RequestId"] in self.world.responses:
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

    def check(self) -> None:
        """The cluster holds exactly the objects of the file, except what holds others' objects."""
        expected = names(self.current)
        assert self.kept() >= self.world.ours() - expected
        assert self.world.ours() >= expected
        listed = self.world.listed()
        assert expected <= listed <= self.world.ours()  # a deleted inventory forgets what is kept
        for item in self.current:
            live = self.world.server.find(item["kind"], item["metadata"]["name"], item["metadata"].get("namespace", ""))
            assert live
            assert {name: live.get(name) for name in ("data", "rules")} == {name: item.get(name) for name in ("data", "rules")}
        self.check_foreign()

    def check_foreign(self) -> None:
        present = {f"{stored.live['kind']} {stored.live['metadata']['name']}" for stored in self.world.server.objects.values()}
        assert self.foreign <= present

    def is_role_taken(self) -> bool:
        live = self.world.server.find("ClusterRole", "agent")
        return live is not None and not live["metadata"].get("labels")

    def kept(self) -> set[str]:
        """Return what may stay because others' objects need it."""
        kept = {"Pod mine": "Namespace aws-hyperpod", "Job mine": "CustomResourceDefinition jobs.example.com"}
        return {holder for held, holder in kept.items() if held in self.foreign}

    def act(self, what: str) -> None:
        """Change the cluster as another client."""
        server = self.world.server
        if what == "conflict" and server.find("ConfigMap", "settings", "aws-hyperpod"):
            server.edit("ConfigMap", "settings", lambda live: live["data"].update(a="x"), "aws-hyperpod", "helm")
        if what == "takes role" and server.find("ClusterRole", "agent"):
            server.edit("ClusterRole", "agent", lambda live: live["metadata"].update(labels={}), manager="helm")
        for kind, place in (("role", ("clusterroles", "", "agent")), ("inventory", ("configmaps", "kube-system", INVENTORY))):
            if what == f"deletes {kind}":
                for key in [each for each in server.objects if each[1:] == place]:
                    del server.objects[key]
        if what == "pod" and server.find("Namespace", "aws-hyperpod") and "Pod mine" not in self.foreign:
            server.add({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "mine", "namespace": "aws-hyperpod"}})
            self.foreign.add("Pod mine")
        if what == "custom resource" and "example.com/v1" in server.served and "Job mine" not in self.foreign:
            server.add(custom("mine"))
            self.foreign.add("Job mine")

    def repair(self) -> None:
        """Do what the error says: delete the objects that others changed."""
        for key in [each for each in self.world.server.objects if each[1:] == ("configmaps", "aws-hyperpod", "settings")]:
            del self.world.server.objects[key]
        for key in [each for each in self.world.server.objects if each[1:] == ("clusterroles", "", "agent")]:
            del self.world.server.objects[key]

    def delete(self) -> None:
        done = self.answer(self.send("Delete", self.current, None))
        assert done["Status"] == "SUCCESS", done["Reason"]
        assert self.world.ours() <= self.kept()
        assert self.world.listed() == set()
        self.check_foreign()


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    phases=(Phase.generate,),
    suppress_health_check=list(HealthCheck),
)
@given(files, st.lists(faults, max_size=2), st.lists(changes, max_size=4))
def test_the_cluster_holds_what_the_stack_says(first: dict[str, str], first_faults: list[Fault], steps: list[Change]) -> None:
    stack = Stack()
    stack.plan(first_faults)
    stack.current = objects_of(first)
    assert stack.answer(stack.send("Create", stack.current, None))["Status"] == "SUCCESS"
    stack.check()
    for step in steps:
        stack.world.clock.advance(300)
        stack.change(step)
    stack.world.clock.advance(300)
    stack.delete()
