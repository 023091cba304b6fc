"""A crash before or after any call of a step: repeated, the request converges to exactly the desired objects."""

import itertools
from typing import Any

import pytest

from tests.unit.cluster_resource.calls_world import MOMENTS, Prepare, crash_at_each_call, die_from_each_call
from tests.unit.kubernetes_resource.dependencies_world import INVENTORY, DependenciesWorld
from tests.unit.kubernetes_resource.objects import account, config_map, custom, daemon_set, definition, names, namespace, role

Json = dict[str, Any]
OLD = [namespace(), account(), role(), config_map(), config_map("old"), daemon_set(), definition(), custom()]
NEW = [namespace(), account("other"), role(verb="list"), config_map(a="2"), daemon_set(image="agent:2"), namespace("second")]

OPPOSITES: dict[str, Json] = {
    "Create": {"kind": "Delete", "items": OLD},
    "Update": {"kind": "Update", "items": OLD, "old": NEW},
    "Delete": {"kind": "Delete", "items": OLD},
}
"""What CloudFormation sends after a failed request."""


def create() -> tuple[DependenciesWorld, Json]:
    return DependenciesWorld(), {"kind": "Create", "items": OLD}


def update() -> tuple[DependenciesWorld, Json]:
    world = DependenciesWorld()
    world.do("Create", OLD)
    return world, {"kind": "Update", "items": NEW, "old": OLD}


def delete() -> tuple[DependenciesWorld, Json]:
    world = DependenciesWorld()
    world.do("Create", OLD)
    return world, {"kind": "Delete", "items": OLD}


def check(world: DependenciesWorld, request: Json) -> None:
    expected = set() if request["kind"] == "Delete" else names(request["items"])
    assert world.ours() == expected
    assert world.listed() == expected
    assert bool(world.server.find("ConfigMap", INVENTORY, "kube-system")) == bool(expected)
    image = (world.server.find("DaemonSet", "agent", "aws-hyperpod") or {}).get("spec", {})
    if expected:
        [container] = image["template"]["spec"]["containers"]
        assert container["image"] == ("agent:1" if request["items"] is OLD else "agent:2")


@pytest.mark.fault(94)
@pytest.mark.parametrize("prepare", [create, update, delete])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_crash_at_any_call_converges(prepare: Prepare[DependenciesWorld], moment: str) -> None:
    crash_at_each_call(prepare, moment, check)


@pytest.mark.parametrize("prepare", [create, update, delete])
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_request_that_ends_at_any_call_is_cleaned_up_by_the_next(prepare: Prepare[DependenciesWorld], moment: str) -> None:
    die_from_each_call(prepare, moment, check, OPPOSITES, every=3)


@pytest.mark.parametrize("prepare", [create, update, delete])
def test_the_inventory_lists_every_object_at_every_call(prepare: Prepare[DependenciesWorld]) -> None:
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
