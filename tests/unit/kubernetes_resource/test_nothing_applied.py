"""A Create that changed nothing says so by its physical id: the Delete of its rollback needs no API server."""

from typing import Any

import pytest

from kubernetes_resource.inventory import COLLECTION
from tests.unit.cluster_resource.calls_world import minutes
from tests.unit.cluster_resource.fake_states import FunctionDied
from tests.unit.kubernetes_resource.api_server import Place
from tests.unit.kubernetes_resource.dependencies_world import ID, DependenciesWorld
from tests.unit.kubernetes_resource.objects import names, standard

Json = dict[str, Any]
DOWN = TimeoutError("timed out")


def delete_after(world: DependenciesWorld, done: Json) -> Json:
    """Send the Delete of the rollback and return its response."""
    world.clock.advance(300)
    return world.finish({**world.request("Delete", standard()), "PhysicalResourceId": done["PhysicalResourceId"]})


@pytest.mark.fault(85)
def test_the_delete_of_a_create_without_an_api_server_succeeds_at_once(world: DependenciesWorld) -> None:
    world.server.down = DOWN
    done = world.do("Create", standard())
    assert done["Status"] == "FAILED"
    calls = len(world.server.calls)
    gone = delete_after(world, done)
    assert (gone["Status"], gone["Reason"]) == ("SUCCESS", "nothing to delete: its creation changed nothing")
    assert gone["PhysicalResourceId"] == done["PhysicalResourceId"]
    assert (len(world.server.calls), minutes(world) < 1) == (calls, True)


@pytest.mark.fault(86)
def test_the_delete_of_a_create_without_an_access_entry_succeeds_at_once(world: DependenciesWorld) -> None:
    world.server.is_authenticated = False
    done = world.do("Create", standard())
    assert "create the access entry" in done["Reason"]
    assert (delete_after(world, done)["Status"], minutes(world) < 1) == ("SUCCESS", True)


def test_malformed_objects_change_nothing(world: DependenciesWorld) -> None:
    done = world.do("Create", [*standard(), *standard()], Objects=["no object"])
    assert done["Reason"].startswith("Objects[0]: not an object; ")
    assert delete_after(world, done)["Reason"] == "nothing to delete: its creation changed nothing"


def test_an_api_server_that_answers_late_gets_the_objects(world: DependenciesWorld) -> None:
    world.server.down = DOWN
    raw = world.deliver(world.request("Create", standard()))
    world.run(1200)
    world.server.down = None
    world.run(90)
    done = world.response(raw)
    assert (done["Status"], done["PhysicalResourceId"]) == ("SUCCESS", ID)
    assert world.ours() == names(standard())


def test_an_api_server_that_answers_at_once_delays_no_create(world: DependenciesWorld) -> None:
    assert world.do("Create", standard())["Status"] == "SUCCESS"
    assert minutes(world) <= 0.5


@pytest.mark.parametrize("request_of", ["same", "another"])
def test_only_the_physical_id_of_the_resource_means_that_nothing_changed(world: DependenciesWorld, request_of: str) -> None:
    """CloudFormation invents an id from the names of stack and resource if a Create has no response."""
    world.do("Create", standard())
    invented = {"same": "none-Dependencies-1ABC", "another": f"none-{'0' * 24}-20261121T090000Z-{'0' * 24}"}[request_of]
    assert delete_after(world, {"PhysicalResourceId": invented})["Reason"] == "all objects are deleted"
    assert world.ours() == set()


@pytest.mark.fault(94)
@pytest.mark.parametrize("dies", [False, True])
def test_a_create_that_wrote_anything_is_deleted(dies: bool) -> None:
    """The server goes away at each call in turn, before it or after it; the function may die of it once."""
    marked, writes = 0, set()
    for index in range(60):
        world = DependenciesWorld()
        _lose(world, index, dies=dies)
        done = world.do("Create", standard())
        if done["Status"] == "SUCCESS":
            break
        has_written = any(method != "GET" for method, _ in world.server.calls)
        writes.add(has_written)
        is_marked = done["PhysicalResourceId"].startswith("none-")
        assert not (is_marked and has_written), index
        marked += is_marked
        world.server.down, world.server.on_call = None, lambda _method, _place: None
        assert delete_after(world, done)["Status"] == "SUCCESS"
        assert world.ours() == world.listed() == set()
    assert (index > 5, marked > 0, writes) == (True, True, {False, True})


def _lose(world: DependenciesWorld, index: int, *, dies: bool) -> None:
    """Let the server do the call of this number, lose the reply, and not answer any more."""

    def lose(_method: str, _place: Place) -> None:
        if len(world.server.calls) > index:
            world.server.down = DOWN

    world.server.on_call = lose
    world.server.after[index] = FunctionDied("after") if dies else DOWN


def test_no_write_precedes_a_step_that_knows_that_the_server_was_reached(world: DependenciesWorld) -> None:
    """So a step that dies after a write leaves a memory that says so."""
    memories: list[tuple[Json, bool]] = []
    step = world.states._invoke

    def watched(payload: Json) -> Json:
        before = len(world.server.calls)
        result = step(payload)
        memories.append((payload["memory"], any(method != "GET" for method, _ in world.server.calls[before:])))
        return result

    world.states._invoke = watched
    world.do("Create", standard())
    assert [memory for memory, has_written in memories if has_written and not memory.get("reached")] == []
    assert ("POST", COLLECTION) in {(method, path.partition("?")[0]) for method, path in world.server.calls}
