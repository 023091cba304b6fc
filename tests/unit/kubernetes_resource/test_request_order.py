"""An older request changes nothing after a newer one began, and a newer one waits until that is certain."""

from cluster_resource.decision import Memory
from cluster_resource.event import Event
from cluster_resource.executions import LEASE_S
from tests.unit.kubernetes_resource.dependencies_world import DependenciesWorld
from tests.unit.kubernetes_resource.objects import names, namespace, standard


def test_an_older_request_that_was_not_stopped_makes_no_call(world: DependenciesWorld) -> None:
    older = world.deliver(world.request("Create", standard()))
    world.clock.advance(1)
    newer = world.request("Delete", standard())
    before = len(world.server.calls)
    world.executions.start(Event.parse(newer), newer, Memory())  # its entry died then
    world.run(LEASE_S + 60)
    assert {method for method, _ in world.server.calls[before:]} <= {"GET"}
    assert world.response(older)["Reason"].startswith("superseded by a newer request for the same resource")
    assert world.response(newer)["Reason"] == "all objects are deleted"


def test_a_request_waits_while_a_stopped_one_may_still_make_calls(world: DependenciesWorld) -> None:
    world.server.is_authenticated = False
    world.deliver(world.request("Create", standard()))
    world.run(100)
    world.server.is_authenticated = True
    newer = world.deliver(world.request("Update", [namespace()], standard()))
    before = len(world.server.calls)
    world.run(LEASE_S - 1)
    assert len(world.server.calls) == before
    world.run(60)
    assert world.response(newer)["Status"] == "SUCCESS"
    assert world.ours() == names([namespace()])


def test_a_request_of_an_entry_that_failed_only_responds(world: DependenciesWorld) -> None:
    raw = world.request("Create", standard())
    before = len(world.server.calls)
    memory = {"version": 1, "fence": "the entry function failed to start the request: Timeout"}
    world.executions.start(Event.parse(raw), raw, Memory.load(memory))
    world.run(300)
    assert world.response(raw)["Reason"] == memory["fence"]
    assert len(world.server.calls) == before
