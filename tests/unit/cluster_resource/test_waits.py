"""Waiting longer than an hour: the chain of waits after the cluster, and the deletion before it."""

from typing import Any

import pytest

from cluster_resource.event import DELETION, WAIT
from tests.unit.cluster_resource.modes import API, SCRIPTS
from tests.unit.cluster_resource.world import LOGICAL_ID, World, group, properties, request

Json = dict[str, Any]


def wait_event(world: World, name: str, kind: str = "Create", *, last: bool = True) -> Json:
    wanted = {"PropertiesVersion": "1", "ClusterName": name, "Hour": 2, "Last": last, "Trigger": "t"}
    physical_id = "" if kind == "Create" else "Wait2"
    return world.event(kind, wanted, physical_id=physical_id, ResourceType=WAIT, LogicalResourceId="Wait2")


def tail_event(world: World, kind: str = "Delete") -> Json:
    wanted = {"PropertiesVersion": "1", "ClusterLogicalId": LOGICAL_ID}
    physical_id = "" if kind == "Create" else "Tail"
    return world.event(kind, wanted, physical_id=physical_id, ResourceType=DELETION, LogicalResourceId="Tail")


@pytest.mark.fault(46)
def test_a_wait_ends_when_the_nodes_run(world: World) -> None:
    world.sagemaker.creation_s = 5000
    name = world.finish(world.event("Create", properties(WaitHours=2)))["PhysicalResourceId"]
    done = world.finish(wait_event(world, name))
    assert done["Status"] == "SUCCESS"
    assert done["PhysicalResourceId"] == "Wait2"
    assert done["Data"] == {"MissingNodes": "none"}


@pytest.mark.fault(46)
def test_only_the_last_wait_fails_at_its_deadline(world: World) -> None:
    world.sagemaker.creation_s = 99_999
    name = world.finish(world.event("Create", properties(WaitHours=3)))["PhysicalResourceId"]
    assert world.finish(wait_event(world, name, last=False))["Status"] == "SUCCESS"
    done = world.finish(wait_event(world, name))
    assert done["Status"] == "FAILED"
    assert "not ready after 2 hours" in done["Reason"]
    assert "workers 0 of 4" in done["Reason"]


def test_a_wait_reports_why_the_cluster_failed(world: World) -> None:
    world.sagemaker.creation_s = 5000
    world.sagemaker.creation_fails = "Lifecycle scripts did not run successfully"
    name = world.finish(world.event("Create", properties(WaitHours=2)))["PhysicalResourceId"]
    assert "Lifecycle scripts did not run successfully" in world.finish(wait_event(world, name))["Reason"]


@pytest.mark.fault(13)
def test_a_wait_detects_that_the_update_was_rolled_back(world: World) -> None:
    name = world.create()["PhysicalResourceId"]
    world.sagemaker.update_s, world.sagemaker.update_fails = 5000, "no capacity left"
    six = properties(request(group("controller", 1), group("workers", 6, "ml.trn1.32xlarge")), WaitHours=2)
    assert world.finish(world.event("Update", six, properties(), name))["Status"] == "SUCCESS"
    done = world.finish(wait_event(world, name, "Update"))
    assert done["Status"] == "FAILED"
    assert "expected workers 6" in done["Reason"]
    assert "no capacity left" in done["Reason"]


def test_a_wait_for_a_deleted_cluster_fails(world: World) -> None:
    assert "disappeared" in world.finish(wait_event(world, "nobody"))["Reason"]


def test_deleting_a_wait_and_creating_a_deletion_make_no_call(world: World) -> None:
    assert world.finish(wait_event(world, "nobody", "Delete"))["Status"] == "SUCCESS"
    assert world.finish(tail_event(world, "Create"))["Status"] == "SUCCESS"
    assert not world.sagemaker.calls


@pytest.mark.fault(46)
def test_the_deletion_waits_until_the_cluster_is_deleted(world: World) -> None:
    name = world.create()["PhysicalResourceId"]
    world.sagemaker.deletion_s = 5000
    assert world.finish(world.event("Delete", properties(WaitHours=2), physical_id=name))["Status"] == "SUCCESS"
    assert world.sagemaker.living() == [name]
    assert world.finish(tail_event(world))["Status"] == "SUCCESS"
    assert world.sagemaker.living() == []


@pytest.mark.fault(47)
def test_the_deletion_waits_neither_for_a_retained_cluster_nor_for_another_owners(world: World) -> None:
    world.create()
    world.create_outside("theirs", **request())
    world.run(700)
    world.sagemaker.deletion_s = None
    world.sagemaker.delete_cluster(ClusterName="theirs")
    assert world.finish(tail_event(world))["Status"] == "SUCCESS"
    assert len(world.sagemaker.living()) == 2


def test_a_deletion_at_its_deadline_names_the_remaining_clusters(world: World) -> None:
    name = world.create()["PhysicalResourceId"]
    world.sagemaker.deletion_s = None
    world.sagemaker.delete_cluster(ClusterName=name)
    done = world.finish(tail_event(world))
    assert done["Status"] == "FAILED"
    assert name in done["Reason"]


FOUR = properties(WaitHours=2)
SIX = properties(request(group("controller", 1), group("workers", 6, "ml.trn1.32xlarge")), WaitHours=2)
CONTINUE = "`aws cloudformation continue-update-rollback --stack-name reference-Cluster --region us-west-2`"


@pytest.mark.fault(46)
def test_an_update_in_progress_at_its_deadline_continues_in_the_wait(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    cluster = world.sagemaker.all[0]
    cluster.become("SystemUpdating")
    cluster.later(2000, cluster.in_service)
    world.sagemaker.update_s = 4000
    assert world.finish(world.event("Update", SIX, FOUR, name))["Status"] == "SUCCESS"
    assert cluster.status == ("Updating" if world.mode == SCRIPTS else "InService")
    assert world.finish(wait_event(world, name, "Update"))["Status"] == "SUCCESS"
    assert cluster.running["workers"] == 6


@pytest.mark.fault(13)
@pytest.mark.fault(46)
def test_an_update_that_is_rolling_back_at_the_deadline_fails(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    world.sagemaker.update_s = 99_999
    raw = world.deliver(world.event("Update", SIX, FOUR, name))
    world.run(3000)
    world.sagemaker.all[0].become("RollingBack", "no capacity left")
    world.run(600)
    assert world.response(raw)["Status"] == "FAILED"
    assert "no capacity left" in world.response(raw)["Reason"]


@pytest.mark.fault(13)
@pytest.mark.fault(46)
def test_a_wait_that_begins_during_a_rollback_is_no_success(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    cluster = world.sagemaker.all[0]
    cluster.become("RollingBack", "no capacity left")
    cluster.later(300, lambda: cluster.become("InService"))
    done = world.finish(wait_event(world, name, "Update"))
    assert done["Status"] == "FAILED"
    assert "no capacity left" in done["Reason"]


@pytest.mark.fault(13)
@pytest.mark.only_mode("scripts", reason="a continuous cluster removes a group at once")
def test_a_wait_detects_that_a_removed_group_came_back(world: World) -> None:
    login = properties(request(group("controller", 1), group("workers", 4, "ml.trn1.32xlarge"), group("login", 1)), WaitHours=2)
    name = world.create(login)["PhysicalResourceId"]
    world.sagemaker.update_s, world.sagemaker.update_fails = 5000, "no capacity left"
    assert world.finish(world.event("Update", FOUR, login, name))["Status"] == "SUCCESS"
    done = world.finish(wait_event(world, name, "Update"))
    assert done["Status"] == "FAILED"
    assert "expected login deleted" in done["Reason"]


@pytest.mark.fault(50)
def test_a_count_raised_by_hand_during_a_wait_is_no_rollback(world: World) -> None:
    assert wait_while_an_operator_scales(world, 5)["Status"] == "SUCCESS"


@pytest.mark.fault(50)
def test_a_count_reduced_by_hand_during_a_wait_is_a_failure_only_if_hyperpod_may_have_done_it(world: World) -> None:
    done = wait_while_an_operator_scales(world, 3)
    assert done["Status"] == ("SUCCESS" if world.mode == SCRIPTS else "FAILED")
    if world.mode == API:
        assert "HyperPod or an operator reduced the instance counts of cluster" in done["Reason"]
        assert "(expected workers 4)" in done["Reason"]


def wait_while_an_operator_scales(world: World, count: int) -> Json:
    """Wait for an update that is in progress, and set another count once the cluster is InService without all nodes."""
    name = world.create(FOUR)["PhysicalResourceId"]
    cluster = world.sagemaker.all[0]
    cluster.running["workers"] = 2
    cluster.become("Updating")
    raw = world.deliver(wait_event(world, name, "Update"))
    world.run(60)
    cluster.become("InService")
    world.run(60)
    cluster.groups["workers"]["InstanceCount"] = count
    world.run(300)
    cluster.in_service()
    world.run(300)
    return world.response(raw)


@pytest.mark.only_mode("scripts", reason="HyperPod takes back no removal of continuous nodes")
@pytest.mark.fault(13)
def test_a_wait_detects_that_a_reduction_was_rolled_back(world: World) -> None:
    name = world.create(SIX)["PhysicalResourceId"]
    world.sagemaker.update_s, world.sagemaker.update_fails = 5000, "nodes do not stop"
    assert world.finish(world.event("Update", FOUR, SIX, name))["Status"] == "SUCCESS"
    done = world.finish(wait_event(world, name, "Update"))
    assert done["Status"] == "FAILED"
    assert "expected workers 4" in done["Reason"]


@pytest.mark.fault(46)
def test_an_update_that_could_not_start_in_its_hour_is_no_success(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    world.sagemaker.all[0].become("SystemUpdating")
    done = world.finish(world.event("Update", SIX, FOUR, name))
    assert done["Status"] == "FAILED"
    assert world.sagemaker.changes() == []


@pytest.mark.fault(46)
@pytest.mark.only_mode("scripts", reason="a continuous cluster accepts the rollback at once")
def test_a_rollback_longer_than_an_hour_ends_with_the_command_that_continues_it(world: World) -> None:
    name = world.create(properties())["PhysicalResourceId"]
    world.sagemaker.update_s = 99_999
    six = properties(SIX["Request"])
    assert world.finish(world.event("Update", six, properties(), name))["Status"] == "FAILED"
    done = world.finish(world.event("Update", properties(), six, name))
    assert done["Status"] == "FAILED"
    assert CONTINUE in done["Reason"]
    assert f"`--resources-to-skip {LOGICAL_ID}`" in done["Reason"]


@pytest.mark.fault(46)
def test_a_wait_that_a_rollback_updates_ends_with_the_command_too(world: World) -> None:
    world.sagemaker.creation_s = 99_999
    name = world.finish(world.event("Create", FOUR))["PhysicalResourceId"]
    assert "continue-update-rollback" not in world.finish(wait_event(world, name))["Reason"], "a creation is undone by a deletion"
    reason = world.finish(wait_event(world, name, "Update"))["Reason"]
    assert CONTINUE in reason
    assert "`--resources-to-skip Wait2`" in reason


@pytest.mark.fault(46)
def test_neither_a_late_creation_nor_a_late_deletion_mentions_a_rollback(world: World) -> None:
    world.sagemaker.creation_s = 99_999
    created = world.finish(world.event("Create", properties()))
    assert "continue-update-rollback" not in created["Reason"]
    world.sagemaker.all[0].in_service()
    world.sagemaker.deletion_s = None
    deleted = world.finish(world.event("Delete", properties(), physical_id=created["PhysicalResourceId"]))
    assert deleted["Status"] == "FAILED"
    assert "delete the stack again" in deleted["Reason"]
    assert "aws logs tail" not in deleted["Reason"], "nodes that go have nothing to tell"
