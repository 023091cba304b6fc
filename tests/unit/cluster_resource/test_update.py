"""An update changes only what the file changed, compared with the observed cluster."""

import pytest

from tests.unit.cluster_resource.fake_call import fake_call
from tests.unit.cluster_resource.fake_sagemaker import LostReply, Refusal
from tests.unit.cluster_resource.modes import SCRIPTS
from tests.unit.cluster_resource.updates import CONTROLLER, FOUR, SIX, update, workers
from tests.unit.cluster_resource.world import World, group, properties, request


@pytest.mark.fault(36)
def test_an_update_without_differences_makes_no_call(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    assert update(world, name, FOUR, SIX)["Status"] == "SUCCESS"
    assert not world.sagemaker.changes()


@pytest.mark.fault(36)
def test_the_update_of_a_rollback_restores_the_old_counts(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    update(world, name, SIX, FOUR)
    assert update(world, name, FOUR, SIX)["Status"] == "SUCCESS"
    cluster = world.sagemaker.find(name)
    assert cluster
    assert cluster.groups["workers"]["InstanceCount"] == 4


@pytest.mark.fault(21)
def test_changed_tags_only_make_tag_calls_and_the_ownership_tags_stay(world: World) -> None:
    old = properties(request(Tags=[{"Key": "team", "Value": "a"}, {"Key": "old", "Value": "1"}]))
    name = world.create(old)["PhysicalResourceId"]
    cluster = world.sagemaker.find(name)
    assert cluster
    owners = {key: value for key, value in cluster.tags.items() if key.startswith("hyperpod-cdk:")}
    cluster.tags["made-by"] = "hand"
    assert update(world, name, properties(request(Tags=[{"Key": "team", "Value": "b"}])), old)["Status"] == "SUCCESS"
    assert world.sagemaker.changes() == ["AddTags", "DeleteTags"]
    assert cluster.tags == {**owners, "team": "b", "made-by": "hand"}


@pytest.mark.fault(10)
def test_a_failed_cluster_must_be_replaced_but_the_rollback_of_the_update_succeeds(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    world.sagemaker.all[0].become("Failed", "too bad")
    done = update(world, name, SIX, FOUR)
    assert "must be replaced" in done["Reason"]
    assert "too bad" in done["Reason"]
    assert update(world, name, FOUR, SIX)["Status"] == "SUCCESS"
    assert not world.sagemaker.changes()


@pytest.mark.fault(11)
@pytest.mark.parametrize("status", ["Updating", "SystemUpdating"])
def test_an_update_waits_for_a_busy_cluster(world: World, status: str) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    cluster = world.sagemaker.all[0]
    cluster.become(status)
    cluster.later(200, cluster.in_service)
    assert update(world, name, SIX, FOUR)["Status"] == "SUCCESS"
    assert len(world.sagemaker.made("UpdateCluster")) == 1


@pytest.mark.fault(11)
@pytest.mark.fault(12)
@pytest.mark.parametrize(
    "refusal",
    [
        Refusal("ConflictException", "Cluster is Updating"),
        Refusal("ValidationException", "The update cannot start while deep health checks are running"),
    ],
)
def test_an_update_that_is_refused_temporarily_is_retried(world: World, refusal: Refusal) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    world.sagemaker.order("UpdateCluster", refusal, 5)
    assert update(world, name, SIX, FOUR)["Status"] == "SUCCESS"


@pytest.mark.fault(13)
@pytest.mark.fault(16)
def test_an_update_that_is_rolled_back_is_a_failure_with_the_services_message(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    world.sagemaker.update_fails = "We currently do not have sufficient capacity"
    done = update(world, name, SIX, FOUR)
    assert done["Status"] == "FAILED"
    assert "We currently do not have sufficient capacity" in done["Reason"]
    assert "workers.InstanceCount" in done["Reason"]
    assert "no capacity for" in done["Reason"]


@pytest.mark.fault(13)
def test_an_update_that_is_rolled_back_again_for_the_same_reason_still_shows_it(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    world.sagemaker.update_fails = "Lifecycle scripts did not run successfully"
    update(world, name, SIX, FOUR)
    again = update(world, name, SIX, FOUR)
    assert again["Status"] == "FAILED"
    # Events have their time; a FailureMessage has none.
    age = " (this message is older than the update)" if world.mode == SCRIPTS else ""
    assert f"Lifecycle scripts did not run successfully{age}" in again["Reason"]


@pytest.mark.fault(13)
@pytest.mark.only_mode("scripts", reason="a continuous cluster restarts no node for other fields, so nothing can fail")
def test_an_update_of_other_fields_that_is_rolled_back_is_a_failure_too(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    world.sagemaker.update_fails = "Lifecycle scripts did not run successfully"
    other = group("controller", 1, LifeCycleConfig={"SourceS3Uri": "s3://sagemaker-scripts/2/", "OnCreate": "on_create.sh"})
    done = update(world, name, properties(request(other, workers(4))), FOUR)
    assert done["Status"] == "FAILED"
    assert "Lifecycle scripts did not run successfully" in done["Reason"]


@pytest.mark.fault(13)
def test_an_old_failure_message_does_not_fail_a_good_update(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    world.sagemaker.all[0].failure = "something of last week"
    assert update(world, name, SIX, FOUR)["Status"] == "SUCCESS"


@pytest.mark.fault(14)
def test_a_stale_read_after_the_update_is_no_success(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    world.run(600)
    world.sagemaker.stale_s = 100
    begin = world.clock.now
    assert update(world, name, SIX, FOUR)["Status"] == "SUCCESS"
    assert (world.clock.now - begin).total_seconds() >= 300
    assert len(world.sagemaker.made("UpdateCluster")) == 1


@pytest.mark.fault(14)
def test_one_read_of_the_old_counts_after_the_update_is_not_enough(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    old = world.sagemaker.describe_cluster(ClusterName=name)
    raw = world.deliver(world.event("Update", SIX, FOUR, name))
    world.run(65)
    monkeypatch.setattr(world.sagemaker, "describe_cluster", fake_call("sagemaker", "DescribeCluster", lambda: old))
    world.run(30)
    monkeypatch.undo()
    world.run()
    assert world.response(raw)["Status"] == "SUCCESS"


@pytest.mark.fault(1)
def test_a_lost_reply_of_update_cluster_makes_no_second_update(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    world.sagemaker.order("UpdateCluster", LostReply())
    assert update(world, name, SIX, FOUR)["Status"] == "SUCCESS"
    assert len(world.sagemaker.made("UpdateCluster")) == 1


@pytest.mark.fault(20)
def test_a_cluster_deleted_by_hand_is_reported_and_not_created_again(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    world.sagemaker.all[0].go()
    done = update(world, name, SIX, FOUR)
    assert "no longer exists" in done["Reason"]
    assert not world.sagemaker.changes()


def test_an_update_of_a_cluster_with_another_owner_changes_nothing(world: World) -> None:
    world.create_outside("theirs", **request())
    world.run(700)
    world.sagemaker.calls.clear()
    done = update(world, "theirs", SIX, FOUR)
    assert "not changed" in done["Reason"]
    assert not world.sagemaker.changes()


def test_a_cluster_setting_is_sent_only_if_it_differs(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    wanted = properties(request(CONTROLLER, workers(4), NodeRecovery="Automatic"))
    assert update(world, name, wanted, FOUR)["Status"] == "SUCCESS"
    (sent,) = world.sagemaker.made("UpdateCluster")
    assert sent["NodeRecovery"] == "Automatic"
    assert "VpcConfig" not in sent


@pytest.mark.fault(46)
def test_an_update_that_was_never_accepted_fails_at_the_deadline_despite_more_wait_hours(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    world.sagemaker.order("UpdateCluster", Refusal("ConflictException", "busy"), 999)
    wanted = properties(request(CONTROLLER, workers(6)), WaitHours=3)
    assert update(world, name, wanted, FOUR)["Status"] == "FAILED"
    world.sagemaker.forgive()
    world.sagemaker.update_s = 99_999
    assert update(world, name, wanted, FOUR)["Status"] == "SUCCESS"
