"""Drawn schedules of Custom::HyperPodDependencies."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.cluster_resource.drawn_stack import Change, DrawnStack, Fault, drawn, schedules
from tests.unit.kubernetes_resource.dependencies_world import INVENTORY, DependenciesWorld
from tests.unit.kubernetes_resource.objects import account, config_map, custom, daemon_set, definition, names, namespace, role

Json = dict[str, Any]
POOL: dict[str, Callable[[str], list[Json]]] = {
    "definition": lambda _: [definition(), custom()],
    "role": lambda verb: [role(verb=verb)],
    "settings": lambda value: [namespace(), config_map(a=value)],
    "agent": lambda image: [namespace(), account(), daemon_set(image=image)],
}
FILES = st.dictionaries(st.sampled_from(sorted(POOL)), st.sampled_from(["a", "b"]), min_size=1)
FAULTS = [
    ("after", TimeoutError("timed out")),
    *(("before", (status, {"message": "later"})) for status in (429, 500, 503)),
]
OUTSIDE = ["conflict", "takes role", "deletes role", "deletes inventory", "pod", "custom resource"]


@dataclass
class DependenciesStack(DrawnStack[DependenciesWorld]):
    """A stack with objects."""

    world: DependenciesWorld = field(default_factory=DependenciesWorld)
    foreign: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.world.server.on_call = lambda method, _: self.check_fence(is_read=method == "GET")

    def items_of(self, file: dict[str, Any]) -> list[Json]:
        found = {str(item): item for name, variant in file.items() for item in POOL[name](variant)}
        return list(found.values())

    def may_fail(self, outside: str) -> bool:
        live = self.world.server.find("ClusterRole", "agent")
        is_role_taken = live is not None and not live["metadata"].get("labels")
        return outside == "conflict" or is_role_taken

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

    def check_deleted(self) -> None:
        assert self.world.ours() <= self.kept()
        assert self.world.listed() == set()
        self.check_foreign()

    def kept(self) -> set[str]:
        """Return what may stay because others' objects need it."""
        kept = {"Pod mine": "Namespace aws-hyperpod", "Job mine": "CustomResourceDefinition jobs.example.com"}
        return {holder for held, holder in kept.items() if held in self.foreign}

    def act(self, what: str) -> None:
        server = self.world.server
        if what == "conflict" and server.find("ConfigMap", "settings", "aws-hyperpod"):
            server.edit("ConfigMap", "settings", lambda live: live["data"].update(a="x"), "aws-hyperpod", "helm")
        if what == "takes role" and server.find("ClusterRole", "agent"):
            server.edit("ClusterRole", "agent", lambda live: live["metadata"].update(labels={}), manager="helm")
        for kind, place in (("role", ("clusterroles", "", "agent")), ("inventory", ("configmaps", "kube-system", INVENTORY))):
            if what == f"deletes {kind}":
                self.remove(place)
        if what == "pod" and server.find("Namespace", "aws-hyperpod") and "Pod mine" not in self.foreign:
            server.add({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "mine", "namespace": "aws-hyperpod"}})
            self.foreign.add("Pod mine")
        if what == "custom resource" and "example.com/v1" in server.served and "Job mine" not in self.foreign:
            server.add(custom("mine"))
            self.foreign.add("Job mine")

    def repair(self) -> None:
        """Delete the objects that others changed."""
        self.remove(("configmaps", "aws-hyperpod", "settings"))
        self.remove(("clusterroles", "", "agent"))

    def remove(self, place: tuple[str, str, str]) -> None:
        """Remove an object at once."""
        for key in [each for each in self.world.server.objects if each[1:] == place]:
            del self.world.server.objects[key]


@drawn(60)
@given(*schedules(FILES, FAULTS, OUTSIDE, 60))
def test_the_cluster_has_the_objects_of_the_stack(first: dict[str, str], faults: list[Fault], changes: list[Change]) -> None:
    DependenciesStack().live(first, faults, changes)
