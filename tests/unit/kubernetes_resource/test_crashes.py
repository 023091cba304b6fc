"""A crash before or after any call of a step: repeated, the request converges to exactly the desired objects."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from tests.unit.cluster_resource.fake_states import FunctionDied
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
OLD = [namespace(), account(), role(), config_map(), config_map("old"), daemon_set(), definition(), custom()]
NEW = [namespace(), account("other"), role(verb="list"), config_map(a="2"), daemon_set(image="agent:2"), namespace("second")]
Prepare = Callable[[], tuple[DependenciesWorld, Json]]


def create() -> tuple[DependenciesWorld, Json]:
    return DependenciesWorld(), {"kind": "Create", "objects": OLD}


def update() -> tuple[DependenciesWorld, Json]:
    world = DependenciesWorld()
    world.do("Create", OLD)
    return world, {"kind": "Update", "objects": NEW, "old": OLD}


def delete() -> tuple[DependenciesWorld, Json]:
    world = DependenciesWorld()
    world.do("Create", OLD)
    return world, {"kind": "Delete", "objects": OLD}


def calls_of(prepare: Prepare) -> int:
    world, request = prepare()
    before = len(world.server.calls)
    world.do(**request)
    return len(world.server.calls) - before


def check(world: DependenciesWorld, request: Json) -> None:
    expected = set() if request["kind"] == "Delete" else names(request["objects"])
    assert world.ours() == expected
    assert world.listed() == expected
    assert bool(world.server.find("ConfigMap", INVENTORY, "kube-system")) == bool(expected)
    image = (world.server.find("DaemonSet", "agent", "aws-hyperpod") or {}).get("spec", {})
    if expected:
        [container] = image["template"]["spec"]["containers"]
        assert container["image"] == ("agent:1" if request["objects"] is OLD else "agent:2")


@pytest.mark.fault(94)
@pytest.mark.parametrize("prepare", [create, update, delete])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_crash_at_any_call_converges(prepare: Prepare, moment: str) -> None:
    for index in range(calls_of(prepare)):
        world, request = prepare()
        getattr(world.server, moment)[len(world.server.calls) + index] = FunctionDied(f"{moment} call {index}")
        done = world.do(**request)
        assert done["Status"] == "SUCCESS", (index, done)
        check(world, request)


@pytest.mark.parametrize("prepare", [create, update, delete])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_request_that_ends_at_any_call_is_cleaned_up_by_the_next(prepare: Prepare, moment: str) -> None:
    """The function dies from a call on, until the request has failed; CloudFormation then sends the opposite request."""
    for index in range(0, calls_of(prepare), 3):
        world, request = prepare()
        start = len(world.server.calls) + index
        faults = getattr(world.server, moment)
        faults.update({number: FunctionDied(f"{moment} call {index}") for number in range(start, start + 500)})
        assert world.do(**request)["Status"] == "FAILED"
        faults.clear()
        opposites: dict[str, Json] = {
            "Create": {"kind": "Delete", "objects": OLD},
            "Update": {"kind": "Update", "objects": OLD, "old": NEW},
            "Delete": {"kind": "Delete", "objects": OLD},
        }
        opposite = opposites[request["kind"]]
        done = world.do(**opposite)
        assert done["Status"] == "SUCCESS", (index, done)
        check(world, opposite)


@pytest.mark.parametrize("prepare", [create, update, delete])
def test_the_inventory_lists_every_object_at_every_call(prepare: Prepare) -> None:
    world, request = prepare()
    unlisted: list[set[str]] = []
    numbers = itertools.count()

    def look(_method: str, _place: object) -> None:
        next(numbers)
        missing = world.ours() - world.listed()
        if missing:
            unlisted.append(missing)

    world.server.on_call = look
    world.do(**request)
    assert next(numbers) > 10
    assert unlisted == []
