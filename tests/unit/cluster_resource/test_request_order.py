"""Requests that overtake each other, as the model checker found them (tests/soak)."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from cluster_resource import responder
from cluster_resource.decision import Memory
from cluster_resource.event import Event
from cluster_resource.executions import LEASE_S, LISTED_S
from tests.unit.cluster_resource.fake_call import fake_call
from tests.unit.cluster_resource.test_delivery import failed_entry
from tests.unit.cluster_resource.updates import FOUR, SIX
from tests.unit.cluster_resource.world import World, properties

Json = dict[str, Any]


@pytest.mark.fault(27)
@pytest.mark.fault(37)
def test_an_entry_that_is_overtaken_before_its_start_changes_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    world.run(5)
    update = world.event("Update", SIX, FOUR, name)
    world.run(5)
    rollback = world.event("Update", FOUR, SIX, name)
    start = world.states.start_execution

    def start_after_the_other(**arguments: Any) -> Json:
        monkeypatch.undo()
        world.deliver(rollback)
        return start(**arguments)

    monkeypatch.setattr(world.states, "start_execution", start_after_the_other)
    world.deliver(update)
    world.run()
    assert "superseded" in world.response(update)["Reason"]
    assert world.response(rollback)["Status"] == "SUCCESS"
    assert not world.sagemaker.changes()


@pytest.mark.fault(28)
def test_a_late_start_of_a_failed_entry_sends_no_second_response(world: World) -> None:
    raw = world.event("Create", properties())
    responder.respond(failed_entry(raw), world.executions, world.send)
    world.deliver(raw)
    world.run()
    assert "failed to start the request" in world.response(raw)["Reason"]
    assert not world.sagemaker.changes()


@pytest.mark.fault(28)
def test_an_event_gets_a_response_even_if_no_execution_can_be_started(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world.states, "start_execution", refusing("StartExecution", "AccessDeniedException"))
    raw = world.event("Create", properties())
    responder.respond(failed_entry(raw), world.executions, world.send)
    assert "StartExecution: AccessDenied" in world.response(raw)["Reason"]


@pytest.mark.fault(28)
def test_a_responder_that_cannot_list_executions_starts_one_that_responds(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = world.event("Create", properties())
    with monkeypatch.context() as patch:
        patch.setattr(world.states, "list_executions", refusing("ListExecutions", "AccessDeniedException"))
        with pytest.raises(ClientError):  # what still runs is stopped at the next try
            responder.respond(failed_entry(raw), world.executions, world.send)
    world.run(LEASE_S + 60)
    assert "failed to start the request" in world.response(raw)["Reason"]


@pytest.mark.fault(28)
def test_a_throttled_responder_raises_and_is_retried(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = world.event("Create", properties())
    with monkeypatch.context() as patch:
        patch.setattr(world.states, "start_execution", refusing("StartExecution", "ThrottlingException"))
        with pytest.raises(ClientError):
            responder.respond(failed_entry(raw), world.executions, world.send)
    assert raw["RequestId"] not in world.responses
    responder.respond(failed_entry(raw), world.executions, world.send)
    world.run(30)
    assert world.response(raw)["Status"] == "FAILED"


@pytest.mark.fault(27)
@pytest.mark.parametrize("kind", ["Create", "Update", "Delete"])
def test_the_step_of_an_older_request_makes_no_call_after_a_newer_request_started(world: World, kind: str) -> None:
    """Its execution starts late, without a fence, and nobody stops it."""
    name = world.create(FOUR)["PhysicalResourceId"]
    world.run(5)
    wanted = {"Create": properties(ClusterName="another"), "Update": SIX, "Delete": FOUR}[kind]
    older = world.event(kind, wanted, FOUR if kind == "Update" else None, "" if kind == "Create" else name)
    world.run(5)
    newer = world.finish(world.event("Update", FOUR, SIX, name))
    start_unseen(world, older)
    world.run()
    assert newer["Status"] == "SUCCESS"
    assert "superseded by a newer request" in world.response(older)["Reason"]
    assert not world.sagemaker.changes()


@pytest.mark.fault(27)
@pytest.mark.parametrize(("is_started", "reason"), [(True, "which started first"), (False, "arrived after a newer one")])
def test_a_late_delivery_stops_its_execution_only_if_that_started_without_the_fence(
    world: World, reason: str, *, is_started: bool
) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    world.run(5)
    older = world.event("Update", SIX, FOUR, name)
    world.run(5)
    world.deliver(world.event("Update", FOUR, SIX, name))
    if is_started:
        start_unseen(world, older)
    world.deliver(older)
    world.run()
    assert reason in world.response(older)["Reason"]


def test_a_step_that_cannot_list_executions_makes_no_call(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = world.deliver(world.event("Create", properties()))
    with monkeypatch.context() as patch:
        patch.setattr(world.states, "list_executions", refusing("ListExecutions", "ThrottlingException"))
        world.run(300)
        assert not world.sagemaker.changes()
    world.run()
    assert world.response(raw)["Status"] == "SUCCESS"


def test_a_request_waits_for_an_older_one_that_was_stopped_before_the_last_one_ended(world: World) -> None:
    """The execution between the two ended well, and tells nothing of the call that the first one may have on its way."""
    name = world.create(FOUR)["PhysicalResourceId"]
    world.run(5)
    update = world.deliver(world.event("Update", SIX, FOUR, name))
    world.clock.advance(LISTED_S + 5)  # its second step hangs before its call
    world.executions.stop(world.executions.arn_of(Event.parse(update)), "superseded")
    start_unseen(world, world.event("Update", FOUR, SIX, name), fence="it did nothing")
    world.run(5)
    again = world.deliver(world.event("Update", FOUR, FOUR, name))
    world.run(LEASE_S - 30)
    assert again["RequestId"] not in world.responses
    world.run()
    assert world.response(again)["Status"] == "SUCCESS"


def test_a_request_that_cannot_list_older_ones_at_first_still_waits_for_them(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    world.run(5)
    update = world.deliver(world.event("Update", SIX, FOUR, name))
    world.clock.advance(LISTED_S + 5)  # its second step hangs before its call
    world.executions.stop(world.executions.arn_of(Event.parse(update)), "superseded")
    rollback = world.deliver(world.event("Update", FOUR, SIX, name))
    with monkeypatch.context() as patch:
        patch.setattr(world.states, "list_executions", refusing("ListExecutions", "ThrottlingException"))
        world.run(LISTED_S + 20)
    world.run(LEASE_S - LISTED_S - 50)
    assert rollback["RequestId"] not in world.responses
    world.run()
    assert world.response(rollback)["Status"] == "SUCCESS"


def test_a_failed_entry_gets_a_response_once_no_older_call_can_take_effect(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    world.run(5)
    world.deliver(world.event("Update", SIX, FOUR, name))
    world.run(LISTED_S + 5)
    rollback = world.event("Update", FOUR, SIX, name)
    responder.respond(failed_entry(rollback), world.executions, world.send)
    world.run(LEASE_S - 30)
    assert rollback["RequestId"] not in world.responses
    world.run(60)
    assert "failed to start the request" in world.response(rollback)["Reason"]


def test_a_request_does_not_wait_for_one_that_was_stopped_before_it_could_make_a_call(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    world.run(5)
    world.deliver(world.event("Update", SIX, FOUR, name))
    world.run(LISTED_S - 5)
    rollback = world.deliver(world.event("Update", FOUR, SIX, name))
    world.run(LISTED_S)
    assert world.response(rollback)["Status"] == "SUCCESS"


def test_a_request_long_after_one_that_was_stopped_does_not_wait(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    world.run(5)
    update = world.deliver(world.event("Update", SIX, FOUR, name))
    world.clock.advance(LISTED_S)
    world.executions.stop(world.executions.arn_of(Event.parse(update)), "by hand")
    world.run(LEASE_S)
    again = world.deliver(world.event("Update", FOUR, SIX, name))
    world.run(31)
    assert world.response(again)["Status"] == "SUCCESS"


def start_unseen(world: World, raw: Json, **memory: str) -> None:
    """Start a request's execution as an entry does that saw no newer one."""
    world.executions.start(Event.parse(raw), raw, Memory.load(memory))


def refusing(operation: str, code: str) -> Any:
    """A call of Step Functions' that is refused."""

    def refuse() -> Json:
        raise ClientError({"Error": {"Code": code, "Message": "no"}}, operation)

    return fake_call("stepfunctions", operation, refuse)
