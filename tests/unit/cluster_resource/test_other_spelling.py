"""DescribeCluster may show a request in another spelling, which neither updates nor fails a cluster that the request created."""

from collections.abc import Callable

import pytest

from cluster_resource.removed_members import differs
from tests.unit.cluster_resource.fake_sagemaker import LostReply, Refusal
from tests.unit.cluster_resource.updates import CONTROLLER, FOUR, SIX, Json, update, workers
from tests.unit.cluster_resource.world import World, properties, request

NOTHING_TO_UPDATE = Refusal("ValidationException", "there is nothing to update")


@pytest.fixture
def respell(world: World, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Let DescribeCluster show another address of the scripts than the requested one."""
    whole = world.sagemaker.describe_cluster

    def in_other_words(**arguments: str) -> Json:
        described = whole(**arguments)
        for shown in described["InstanceGroups"]:
            shown["LifeCycleConfig"]["SourceS3Uri"] = "s3://sagemaker-scripts/otherwise"
        return described

    return lambda: monkeypatch.setattr(world.sagemaker, "describe_cluster", in_other_words)


def test_a_field_in_another_spelling_does_not_fail_an_update(world: World, respell: Callable[[], None]) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    world.sagemaker.all[0].failure = "something of last week"
    respell()
    assert update(world, name, SIX, FOUR)["Status"] == "SUCCESS"


@pytest.mark.fault(42)
def test_a_create_does_not_update_its_own_cluster(world: World, respell: Callable[[], None]) -> None:
    respell()
    assert world.finish(world.event("Create", properties()))["Status"] == "SUCCESS"
    assert world.sagemaker.changes() == ["CreateCluster"]


@pytest.mark.fault(42)
def test_a_create_does_not_refuse_its_own_cluster(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = world.sagemaker.describe_cluster

    def shown_otherwise(**arguments: str) -> Json:
        described = whole(**arguments)
        described.pop("NodeProvisioningMode", None)
        for shown in described["InstanceGroups"]:
            shown["ExecutionRole"] = "arn:aws:iam::123456789012:role/path/NodeRole"
            del shown["ThreadsPerCore"]
        return described

    monkeypatch.setattr(world.sagemaker, "describe_cluster", shown_otherwise)
    assert world.finish(world.event("Create", properties()))["Status"] == "SUCCESS"
    assert world.sagemaker.changes() == ["CreateCluster"]


def test_a_replacement_does_not_update_its_own_cluster(world: World, respell: Callable[[], None]) -> None:
    name = world.create(properties())["PhysicalResourceId"]
    respell()
    moved = properties(request(subnet="subnet-00000000000000002"))
    assert update(world, name, moved, properties())["Status"] == "SUCCESS"
    assert world.sagemaker.changes() == ["CreateCluster"]


def test_a_count_that_changed_during_the_create_is_still_restored(world: World, respell: Callable[[], None]) -> None:
    respell()
    raw = world.deliver(world.event("Create", properties()))
    world.run(31)
    world.sagemaker.all[0].groups["workers"]["InstanceCount"] = 2
    world.run()
    assert world.response(raw)["Status"] == "SUCCESS"
    assert world.sagemaker.changes() == ["CreateCluster", "UpdateCluster"]
    assert world.sagemaker.all[0].groups["workers"]["InstanceCount"] == 4


def test_a_rejected_update_after_a_lost_reply_of_create_cluster_is_only_noted(world: World, respell: Callable[[], None]) -> None:
    respell()
    world.sagemaker.order("CreateCluster", LostReply())
    world.sagemaker.order("UpdateCluster", NOTHING_TO_UPDATE)
    done = world.finish(world.event("Create", properties()))
    assert done["Status"] == "SUCCESS"
    assert "DescribeCluster shows other values of controller.LifeCycleConfig, workers.LifeCycleConfig, but" in done["Reason"]
    assert "there is nothing to update" in done["Reason"]
    assert world.sagemaker.changes() == ["CreateCluster", "UpdateCluster"]


@pytest.mark.parametrize("code", ["ResourceLimitExceeded", "ThrottlingException"])
def test_another_refusal_is_not_ignored(world: World, respell: Callable[[], None], code: str) -> None:
    respell()
    world.sagemaker.order("CreateCluster", LostReply())
    world.sagemaker.order("UpdateCluster", Refusal(code, "no"), 999)
    done = world.finish(world.event("Create", properties()))
    assert done["Status"] == "FAILED"
    assert code in done["Reason"] or "a quota is too small" in done["Reason"]


def test_a_rejected_update_of_wrong_counts_is_a_failure(world: World) -> None:
    world.sagemaker.order("UpdateCluster", NOTHING_TO_UPDATE)
    raw = world.deliver(world.event("Create", properties()))
    world.run(31)
    world.sagemaker.all[0].groups["workers"]["InstanceCount"] = 2
    world.run()
    assert world.response(raw)["Status"] == "FAILED"


def test_a_rejected_update_of_an_older_cluster_is_a_failure(world: World, respell: Callable[[], None]) -> None:
    old = properties(request(CONTROLLER, workers(4)))
    name = world.create(old)["PhysicalResourceId"]
    respell()
    world.sagemaker.order("UpdateCluster", NOTHING_TO_UPDATE)
    tagged = properties(request(CONTROLLER, workers(4), Tags=[{"Key": "team", "Value": "a"}]))
    assert update(world, name, tagged, old)["Status"] == "FAILED"


@pytest.mark.fault(46)
def test_a_create_of_over_an_hour_continues_in_the_wait(world: World, respell: Callable[[], None]) -> None:
    respell()
    world.sagemaker.creation_s = 5000
    done = world.finish(world.event("Create", properties(WaitHours=2)))
    assert done["Status"] == "SUCCESS"
    assert "the next resource continues to wait" in done["Reason"]


@pytest.mark.parametrize(
    ("desired", "observed", "expected"),
    [
        ([{"a": 1}, {"b": 2}], [{"b": 2, "added": 3}, {"a": 1}], False),
        ([{"a": 1}, {"b": 2}], [{"a": 1}, {"a": 1}], True),
        ([{"a": 1}, {"a": 1}], [{"a": 1}, {"b": 2}], True),
        ([{"a": 1}], [{"a": 1}, {"b": 2}], True),
    ],
)
def test_the_order_of_a_list_is_no_difference(desired: list[Json], observed: list[Json], expected: bool) -> None:
    assert differs(desired, observed) is expected


def test_a_request_for_scripts_where_new_clusters_are_continuous_names_the_fix(world: World) -> None:
    text = "has no InstanceGroup with SlurmConfig which is required for Continuous Node Provisioning Mode clusters"
    world.sagemaker.order("CreateCluster", Refusal("ValidationException", text))
    reason = world.finish(world.event("Create", properties()))["Reason"]
    assert reason.endswith(f"{text}; set `slurm: {{setup: api}}` and `provisioning: continuous`")
