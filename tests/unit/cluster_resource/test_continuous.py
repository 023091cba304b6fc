"""A continuous cluster is InService before its workers, while they change, and while HyperPod takes a change back."""

import pytest

from cluster_resource.event import WAIT
from tests.unit.cluster_resource.modes import API, in_mode
from tests.unit.cluster_resource.updates import CONTROLLER, Json, update, workers
from tests.unit.cluster_resource.world import World, group, properties, request

pytestmark = pytest.mark.only_mode("api", reason="other clusters are not InService before their nodes")
NO_CAPACITY = "We currently do not have sufficient ml.trn1.32xlarge capacity"


def continuous(count: int, least: int = 0, **more: object) -> Json:
    new = workers(count, MinInstanceCount=least) if least else workers(count)
    return properties(in_mode(request(CONTROLLER, new), API), **more)


def wait_event(world: World, name: str, kind: str = "Create") -> Json:
    wanted = {"PropertiesVersion": "1", "ClusterName": name, "Hour": 2, "Last": True, "Trigger": "t"}
    physical_id = "" if kind == "Create" else "Wait2"
    return world.event(kind, wanted, physical_id=physical_id, ResourceType=WAIT, LogicalResourceId="Wait2")


def test_a_create_waits_for_workers_that_come_after_in_service(world: World) -> None:
    raw = world.deliver(world.event("Create", continuous(4)))
    world.run(400)
    assert world.sagemaker.all[0].status == "InService"
    assert raw["RequestId"] not in world.responses
    world.run()
    assert world.response(raw)["Status"] == "SUCCESS"
    assert world.sagemaker.all[0].running["workers"] == 4


@pytest.mark.fault(8)
@pytest.mark.fault(16)
def test_workers_without_capacity_fail_the_create_at_its_deadline_with_type_and_zone(world: World) -> None:
    world.sagemaker.capacity = 2
    raw = world.deliver(world.event("Create", continuous(6, 3, AvailabilityZoneId="usw2-az4")))
    world.run(1000)
    about = {"EventMetadata": {"Instance": {"FailureMessage": NO_CAPACITY}}}
    world.sagemaker.all[0].record("Instance did not start", about)
    world.run()
    done = world.response(raw)
    assert done["Status"] == "FAILED"
    assert "workers 2 of 6" in done["Reason"]
    assert NO_CAPACITY in done["Reason"]
    assert "no capacity for ml.trn1.32xlarge in usw2-az4: try later" in done["Reason"]


def test_an_update_that_replaces_one_in_progress_waits_for_its_own_nodes(world: World) -> None:
    name = world.create(continuous(4))["PhysicalResourceId"]
    world.sagemaker.update_s = 5000
    assert update(world, name, continuous(6), continuous(4))["Status"] == "FAILED"
    world.sagemaker.update_s = 300
    assert update(world, name, continuous(8), continuous(6))["Status"] == "SUCCESS"
    assert world.sagemaker.all[0].running["workers"] == 8


def die_in_update(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the step die after its next UpdateCluster."""
    whole = world.sagemaker.update_cluster

    def update_and_die(**arguments: object) -> Json:
        whole(**arguments)
        monkeypatch.undo()
        raise MemoryError("out of memory")

    monkeypatch.setattr(world.sagemaker, "update_cluster", update_and_die)


@pytest.mark.fault(15)
@pytest.mark.fault(25)
def test_an_update_whose_step_dies_in_its_call_still_waits_for_the_new_nodes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = world.create(continuous(4))["PhysicalResourceId"]
    die_in_update(world, monkeypatch)
    assert update(world, name, continuous(6), continuous(4))["Status"] == "SUCCESS"
    assert world.sagemaker.all[0].running["workers"] == 6


@pytest.mark.fault(25)
def test_an_adoption_whose_step_dies_in_its_update_still_waits_for_the_new_nodes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.create_outside("theirs", **continuous(4)["Request"])
    world.run(700)
    die_in_update(world, monkeypatch)
    adopted = continuous(6, ClusterName="theirs", Adopt=True)
    assert world.finish(world.event("Create", adopted))["Status"] == "SUCCESS"
    assert world.sagemaker.all[0].running["workers"] == 6


REFUSED = properties(in_mode(request(CONTROLLER, group("workers", 4, "ml.g5.48xlarge")), API))


def test_a_rollback_that_changes_nothing_does_not_wait_for_a_node_that_failed_before(world: World) -> None:
    name = world.create(continuous(8))["PhysicalResourceId"]
    world.sagemaker.all[0].running["workers"] = 7
    assert "cannot change" in update(world, name, REFUSED, continuous(8))["Reason"]
    assert update(world, name, continuous(8), REFUSED)["Status"] == "SUCCESS"
    assert world.sagemaker.changes() == []


def test_an_update_of_a_setting_does_not_wait_for_a_node_that_failed_before(world: World) -> None:
    name = world.create(continuous(8))["PhysicalResourceId"]
    world.sagemaker.all[0].running["workers"] = 7
    world.sagemaker.capacity = 7
    recovery = properties(in_mode(request(CONTROLLER, workers(8), NodeRecovery="None"), API))
    assert update(world, name, recovery, continuous(8))["Status"] == "SUCCESS"
    assert world.sagemaker.changes() == ["UpdateCluster"]


@pytest.mark.fault(13)
def test_a_wait_detects_a_group_that_is_taken_back_while_the_cluster_is_in_service(world: World) -> None:
    name = world.create(continuous(4, WaitHours=2))["PhysicalResourceId"]
    world.sagemaker.update_s, world.sagemaker.update_fails = 5000, NO_CAPACITY
    assert update(world, name, continuous(6, WaitHours=2), continuous(4, WaitHours=2))["Status"] == "SUCCESS"
    done = world.finish(wait_event(world, name, "Update"))
    assert done["Status"] == "FAILED"
    assert "HyperPod or an operator reduced the instance counts" in done["Reason"]
    assert "expected workers 6" in done["Reason"]


def test_events_from_before_the_request_give_no_advice(world: World) -> None:
    name = world.create(continuous(4))["PhysicalResourceId"]
    about = {"EventMetadata": {"Instance": {"FailureMessage": NO_CAPACITY}}}
    world.sagemaker.all[0].record("Instance did not start", about)
    world.run(60)
    world.sagemaker.update_s = 5000
    reason = update(world, name, continuous(6), continuous(4))["Reason"]
    assert "after 57 minutes" in reason
    assert "capacity" not in reason


def test_a_wait_shows_events_of_the_hours_before_it(world: World) -> None:
    world.sagemaker.capacity = 2
    name = world.finish(world.event("Create", continuous(4, WaitHours=2)))["PhysicalResourceId"]
    about = {"EventMetadata": {"Instance": {"FailureMessage": NO_CAPACITY}}}
    world.sagemaker.all[0].record("Instance did not start", about)
    assert NO_CAPACITY in world.finish(wait_event(world, name))["Reason"]


def test_the_reason_of_a_change_taken_back_is_in_the_events(world: World) -> None:
    name = world.create(continuous(4))["PhysicalResourceId"]
    world.sagemaker.update_fails = NO_CAPACITY
    reason = update(world, name, continuous(6), continuous(4))["Reason"]
    assert NO_CAPACITY in reason
    assert "gave no reason" not in reason
