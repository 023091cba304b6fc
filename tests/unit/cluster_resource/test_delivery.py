"""Events delivered twice, late or never, and functions that die: one cluster, and one response per request."""

from typing import Any

import pytest

from cluster_resource import responder
from cluster_resource.decision import Memory
from cluster_resource.event import Event
from tests.unit.cluster_resource.fake_call import fake_call
from tests.unit.cluster_resource.fake_sagemaker import LostReply
from tests.unit.cluster_resource.world import LOGICAL_ID, World, group, properties, request

Json = dict[str, Any]
SIX = properties(request(group("controller", 1), group("workers", 6, "ml.trn1.32xlarge")))
INVENTED = f"reference-Cluster-{LOGICAL_ID}-1K3ZQ7XW9ABCD"


@pytest.mark.fault(26)
def test_a_duplicate_delivery_starts_nothing_and_stops_nothing(world: World) -> None:
    raw = world.deliver(world.event("Create", properties()))
    world.run(120)
    world.deliver(raw)
    world.run()
    world.deliver(raw)
    world.run(600)
    assert len(world.states.executions) == 1
    assert world.sagemaker.changes() == ["CreateCluster"]
    assert len(world.responses[raw["RequestId"]]) == 1


@pytest.mark.fault(26)
@pytest.mark.parametrize("addresses", [{}, {"ResponseURL": "https://bucket/without-a-date"}])
def test_a_duplicate_of_an_old_event_does_not_stop_the_newer_request(world: World, addresses: Json) -> None:
    create = world.deliver(world.event("Create", properties(), **addresses))
    world.run(60)
    delete = world.deliver(world.event("Delete", properties(), physical_id=INVENTED, **addresses))
    world.deliver(create)
    world.run()
    assert world.response(delete)["Status"] == "SUCCESS"
    assert world.sagemaker.living() == []


@pytest.mark.fault(37)
def test_the_newest_request_wins_and_the_older_one_is_superseded(world: World) -> None:
    name = world.create()["PhysicalResourceId"]
    world.sagemaker.update_s = 1000
    first = world.deliver(world.event("Update", SIX, properties(), name))
    world.run(120)
    second = world.deliver(world.event("Update", properties(), SIX, name))
    world.run()
    assert "superseded" in world.response(first)["Reason"]
    assert world.response(first)["PhysicalResourceId"] == name
    assert world.response(second)["Status"] == "SUCCESS"
    cluster = world.sagemaker.find(name)
    assert cluster
    assert cluster.groups["workers"]["InstanceCount"] == 4


@pytest.mark.fault(37)
def test_a_late_call_of_a_stopped_request_is_corrected(world: World) -> None:
    """The older Update's step was in UpdateCluster when it was stopped; the call lands after the newer one saw nothing to do."""
    name = world.create()["PhysicalResourceId"]
    update = world.deliver(world.event("Update", SIX, properties(), name))
    world.clock.advance(31)
    rollback = world.deliver(world.event("Update", properties(), SIX, name))
    world.run(35)
    world.update_late(name, SIX)
    world.run()
    assert world.response(update)["Status"] == "FAILED"
    assert world.response(rollback)["Status"] == "SUCCESS"
    cluster = world.sagemaker.find(name)
    assert cluster
    assert cluster.groups["workers"]["InstanceCount"] == 4


@pytest.mark.fault(27)
def test_a_create_that_arrives_after_its_delete_creates_no_cluster(world: World) -> None:
    create = world.event("Create", properties())
    world.run(20)
    delete = world.event("Delete", properties(), physical_id=INVENTED)
    assert world.finish(delete)["Status"] == "SUCCESS"
    assert "superseded" in world.finish(create)["Reason"]
    assert not world.sagemaker.changes()


def test_a_resource_that_was_deleted_can_be_created_again_at_once(world: World) -> None:
    name = world.create()["PhysicalResourceId"]
    world.run(5)
    world.finish(world.event("Delete", properties(), physical_id=name))
    world.run(5)
    assert world.finish(world.event("Create", properties()))["Status"] == "SUCCESS"


@pytest.mark.fault(25)
def test_a_step_that_dies_after_its_call_is_repeated_without_harm(world: World) -> None:
    world.sagemaker.order("CreateCluster", LostReply())
    raw = world.event("Create", properties())
    memory_of_a_dead_step: Json = {"version": 1}
    assert world.finish(raw)["Status"] == "SUCCESS"
    execution = next(iter(world.states.executions.values()))
    execution.status, execution.state = "RUNNING", {"event": raw, "memory": memory_of_a_dead_step}
    world.run(120)
    assert world.sagemaker.changes() == ["CreateCluster"]


@pytest.mark.fault(28)
def test_a_step_function_that_keeps_dying_ends_in_a_failed_response(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(_payload: Json) -> Json:
        raise MemoryError("out of memory")

    monkeypatch.setattr(world.states, "_invoke", die)
    done = world.finish(world.event("Create", properties()))
    assert done["Status"] == "FAILED"
    assert "out of memory" in done["Reason"]
    assert done["PhysicalResourceId"].startswith("reference-")


@pytest.mark.fault(25)
def test_a_delete_after_a_create_that_died_in_its_call_ignores_a_stale_read(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = world.sagemaker.create_cluster

    def die() -> Json:
        raise MemoryError("out of memory")

    def create_and_die(**arguments: Any) -> Json:
        whole(**arguments)
        monkeypatch.setattr(world.sagemaker, "describe_cluster", fake_call("sagemaker", "DescribeCluster", die))
        return die()

    monkeypatch.setattr(world.sagemaker, "create_cluster", create_and_die)
    world.sagemaker.stale_s = 60
    failed = world.finish(world.event("Create", properties()))
    assert failed["Status"] == "FAILED"
    monkeypatch.undo()
    world.run(1)
    done = world.finish(world.event("Delete", properties(), physical_id=failed["PhysicalResourceId"]))
    assert done["Status"] == "SUCCESS"
    assert world.sagemaker.living() == []


@pytest.mark.fault(29)
def test_an_execution_stopped_by_hand_gets_a_response(world: World) -> None:
    raw = world.deliver(world.event("Create", properties()))
    world.run(60)
    execution = next(iter(world.states.executions.values()))
    world.states.stop_execution(executionArn=execution.arn, error="", cause="by hand")
    assert "ABORTED" in world.response(raw)["Reason"]
    assert "by hand" in world.response(raw)["Reason"]


@pytest.mark.fault(29)
def test_the_responder_sends_the_response_that_was_decided(world: World) -> None:
    raw = world.event("Create", properties())
    done = world.finish(raw)
    (execution,) = world.states.executions.values()
    detail = {"executionArn": execution.arn, "status": "FAILED", "input": execution.input, "error": "X", "cause": "after the PUT"}
    responder.respond({"detail": detail}, world.executions, world.send)
    assert len(world.responses[raw["RequestId"]]) == 2
    assert world.response(raw) == done


@pytest.mark.fault(29)
def test_the_responder_finds_the_event_if_eventbridge_omits_the_input(world: World) -> None:
    raw = world.deliver(world.event("Create", properties()))
    (execution,) = world.states.executions.values()
    detail = {"executionArn": execution.arn, "status": "TIMED_OUT", "inputDetails": {"included": False}}
    responder.respond({"detail": detail}, world.executions, world.send)
    assert "TIMED_OUT" in world.response(raw)["Reason"]


def failed_entry(raw: Json) -> Json:
    """What Lambda sends to the on-failure destination."""
    error = {"errorType": "ClientError", "errorMessage": "StartExecution: AccessDenied"}
    return {
        "version": "1.0",
        "requestContext": {"condition": "RetriesExhausted"},
        "requestPayload": raw,
        "responsePayload": error,
    }


@pytest.mark.fault(28)
def test_an_event_on_which_the_entry_function_fails_gets_a_response(world: World) -> None:
    raw = world.event("Update", SIX, properties(), "reference-0123456789ab")
    responder.respond(failed_entry(raw), world.executions, world.send)
    world.run(30)
    done = world.response(raw)
    assert done["Status"] == "FAILED"
    assert done["PhysicalResourceId"] == "reference-0123456789ab"
    assert "StartExecution: AccessDenied" in done["Reason"]


@pytest.mark.fault(37)
def test_the_responder_stops_older_requests_if_the_entry_died_after_the_start(world: World) -> None:
    create = world.deliver(world.event("Create", properties()))
    world.run(60)
    delete = world.event("Delete", properties(), physical_id=INVENTED)
    world.executions.start(Event.parse(delete), delete, Memory())
    responder.respond(failed_entry(delete), world.executions, world.send)
    assert "superseded" in world.response(create)["Reason"]
    assert delete["RequestId"] not in world.responses
    world.run()
    assert world.response(delete)["Status"] == "SUCCESS"


@pytest.mark.fault(37)
def test_without_dates_the_order_of_arrival_decides(world: World) -> None:
    name = world.create()["PhysicalResourceId"]
    first = world.deliver(world.event("Update", SIX, properties(), name, ResponseURL="https://bucket/1"))
    world.run(60)
    second = world.deliver(world.event("Update", properties(), SIX, name, ResponseURL="https://bucket/2"))
    world.run()
    assert world.response(first)["Status"] == "FAILED"
    assert world.response(second)["Status"] == "SUCCESS"


@pytest.mark.fault(59)
def test_unknown_memory_of_a_newer_release_is_passed_on(world: World) -> None:
    raw = world.event("Create", properties())
    world.executions.start(Event.parse(raw), raw, Memory.load({"version": 2, "novelty": {"a": 1}}))
    world.run(60)
    (execution,) = world.states.executions.values()
    assert execution.state["memory"]["novelty"] == {"a": 1}
    assert execution.state["memory"]["version"] == 2
    world.run()
    assert world.response(raw)["Status"] == "SUCCESS"


@pytest.mark.fault(57)
def test_no_log_line_contains_the_response_url(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    create = world.deliver(world.event("Create", properties()))
    world.run(60)
    world.finish(world.event("Delete", properties(), physical_id=INVENTED))
    responder.respond(failed_entry(create), world.executions, world.send)
    said = capsys.readouterr().out
    assert '"message": "step"' in said
    assert "controller 0 of 1" in said
    assert "Signature" not in said
    assert "https://bucket" not in said


@pytest.mark.fault(33)
def test_a_hundred_large_groups_old_and_new_fit(world: World) -> None:
    many = [group(f"group-{index:03}", 1) for index in range(100)]
    old = properties(request(*many))
    name = world.create(old)["PhysicalResourceId"]
    new = properties(request(*many[:-1], group("group-099", 2)))
    raw = world.event("Update", new, old, name)
    world.deliver(raw)
    assert len(next(reversed(world.states.executions.values())).input) < 262_144
    world.run()
    assert world.response(raw)["Status"] == "SUCCESS"
