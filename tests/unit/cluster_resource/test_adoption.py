"""An existing cluster is adopted by its name, unchanged; no Delete deletes it while the file has `adopt`."""

from typing import Any

import pytest

from tests.unit.cluster_resource.fake_cluster import FakeCluster
from tests.unit.cluster_resource.fake_sagemaker import LostReply, Refusal
from tests.unit.cluster_resource.updates import CONTROLLER, workers
from tests.unit.cluster_resource.world import LOGICAL_ID, STACK, World, group, properties, request

Json = dict[str, Any]
THEIRS = [{"Key": "team", "Value": "vision"}]
OWNER = {"hyperpod-cdk:stack-id", "hyperpod-cdk:logical-id", "hyperpod-cdk:version"}


def adopting(wanted: Json | None = None, **more: Any) -> Json:
    return properties(wanted, ClusterName="theirs", Adopt=True, **more)


def made_elsewhere(world: World, *groups: Json, tags: list[Json] = THEIRS, **more: Any) -> FakeCluster:
    world.create_outside("theirs", **{**request(*groups), **more}, Tags=tags)
    world.run(700)
    world.sagemaker.calls.clear()
    cluster = world.sagemaker.find("theirs")
    assert cluster
    return cluster


def adopt(world: World, wanted: Json | None = None) -> Json:
    return world.finish(world.event("Create", wanted or adopting()))


def test_adopting_a_cluster_without_differences_only_adds_tags(world: World) -> None:
    cluster = made_elsewhere(world)
    done = adopt(world)
    assert done["Status"] == "SUCCESS"
    assert done["PhysicalResourceId"] == "theirs"
    assert done["Data"]["ClusterArn"] == cluster.arn
    assert world.sagemaker.changes() == ["AddTags"]
    assert cluster.tags["hyperpod-cdk:stack-id"] == STACK
    assert cluster.tags["team"] == "vision"


def test_differences_are_updated_after_the_adoption(world: World) -> None:
    cluster = made_elsewhere(world, group("by-hand", 2), CONTROLLER, workers(4))
    tags = [{"Key": "cost", "Value": "a1"}]
    assert adopt(world, adopting(request(CONTROLLER, workers(6), Tags=tags)))["Status"] == "SUCCESS"
    assert world.sagemaker.changes() == ["AddTags", "UpdateCluster", "AddTags"]
    assert {name: item["InstanceCount"] for name, item in cluster.groups.items()} == {"by-hand": 2, "controller": 1, "workers": 6}


def test_a_broken_node_does_not_prevent_an_adoption(world: World) -> None:
    made_elsewhere(world).running["workers"] = 3
    assert adopt(world)["Status"] == "SUCCESS"


def test_an_adoption_with_immutable_differences_is_refused_before_any_call_with_each_field(world: World) -> None:
    cluster = made_elsewhere(world)
    role = "arn:aws:iam::123456789012:role/another"
    groups = [group("controller", 1, ExecutionRole=role), group("workers", 2, "ml.g5.8xlarge")]
    done = adopt(world, adopting(request(*groups, subnet="subnet-00000000000000002")))
    assert done["Status"] == "FAILED"
    for field in ("Subnets", "controller.ExecutionRole", "workers.InstanceType", "workers.InstanceCount is 4, the file has 2"):
        assert field in done["Reason"]
    assert not world.sagemaker.changes()
    assert not OWNER & cluster.tags.keys()


@pytest.mark.fault(2)
def test_without_adopt_a_cluster_of_another_owner_is_not_changed(world: World) -> None:
    made_elsewhere(world)
    done = world.finish(world.event("Create", properties(ClusterName="theirs")))
    assert done["Status"] == "FAILED"
    assert "set `adopt`" in done["Reason"]
    assert not world.sagemaker.changes()


@pytest.mark.fault(55)
def test_a_cluster_of_another_stack_is_not_adopted(world: World) -> None:
    tags = {"hyperpod-cdk:stack-id": STACK.replace("reference", "another"), "hyperpod-cdk:logical-id": "Cluster"}
    made_elsewhere(world, tags=[{"Key": key, "Value": value} for key, value in tags.items()])
    done = adopt(world)
    assert done["Status"] == "FAILED"
    assert "stack/another-Cluster" in done["Reason"]
    assert "hpod adopt CLUSTER --release" in done["Reason"]
    assert not world.sagemaker.changes()


def test_adopting_a_missing_cluster_creates_none(world: World) -> None:
    done = adopt(world)
    assert done["Status"] == "FAILED"
    assert "no cluster theirs to adopt" in done["Reason"]
    assert not world.sagemaker.all


@pytest.mark.parametrize("status", ["Failed", "Deleting"])
def test_a_failed_or_deleting_cluster_is_not_adopted(world: World, status: str) -> None:
    made_elsewhere(world).become(status)
    assert f"cluster theirs is {status} and cannot be adopted; delete it" in adopt(world)["Reason"]
    assert not world.sagemaker.changes()


def test_a_busy_cluster_is_adopted_once_it_is_idle(world: World) -> None:
    cluster = made_elsewhere(world)
    cluster.become("SystemUpdating")
    raw = world.deliver(world.event("Create", adopting()))
    world.run(300)
    assert not world.sagemaker.changes()
    cluster.become("InService")
    world.run(60)
    assert world.response(raw)["Status"] == "SUCCESS"


@pytest.mark.fault(1)
def test_a_lost_reply_of_add_tags_changes_nothing(world: World) -> None:
    made_elsewhere(world)
    world.sagemaker.order("AddTags", LostReply())
    assert adopt(world)["Status"] == "SUCCESS"
    assert world.sagemaker.changes() == ["AddTags"]


@pytest.mark.fault(35)
def test_the_rollback_of_a_failed_adoption_releases_the_cluster(world: World) -> None:
    cluster = made_elsewhere(world)
    world.sagemaker.order("UpdateCluster", Refusal("ResourceLimitExceeded", "no more of them"))
    raw = world.event("Create", adopting(request(CONTROLLER, workers(6))))
    failed = world.finish(raw)
    assert failed["Status"] == "FAILED"
    gone = world.finish(world.event("Delete", raw["ResourceProperties"], physical_id=failed["PhysicalResourceId"]))
    assert gone["Status"] == "SUCCESS"
    assert world.sagemaker.living() == ["theirs"]
    assert not OWNER & cluster.tags.keys()
    assert cluster.status == "InService"


def test_the_rollback_after_another_resource_failed_releases_the_cluster(world: World) -> None:
    cluster = made_elsewhere(world)
    name = adopt(world)["PhysicalResourceId"]
    assert world.finish(world.event("Delete", adopting(), physical_id=name))["Status"] == "SUCCESS"
    assert world.sagemaker.living() == ["theirs"]
    assert not OWNER & cluster.tags.keys()
    assert adopt(world)["Status"] == "SUCCESS"


@pytest.mark.fault(34)
def test_a_delete_that_overtakes_the_adoption_releases_the_cluster(world: World) -> None:
    cluster = made_elsewhere(world)
    raw = world.deliver(world.event("Create", adopting(request(CONTROLLER, workers(6)))))
    world.run(60)
    invented = f"reference-Cluster-{raw['LogicalResourceId']}-1ABCDEFGHIJK2"
    assert world.finish(world.event("Delete", adopting(), physical_id=invented))["Status"] == "SUCCESS"
    assert "superseded" in world.response(raw)["Reason"]
    assert not OWNER & cluster.tags.keys()
    world.run()
    assert world.sagemaker.living() == ["theirs"]


@pytest.mark.fault(2)
def test_the_rollback_of_a_refused_adoption_changes_nothing(world: World) -> None:
    made_elsewhere(world)
    raw = world.event("Create", adopting(request(CONTROLLER)) | {"ControllerGroup": "head"})
    failed = world.finish(raw)
    assert failed["Status"] == "FAILED"
    world.finish(world.event("Delete", raw["ResourceProperties"], physical_id=failed["PhysicalResourceId"]))
    assert not world.sagemaker.changes()


def test_after_adopt_is_removed_the_stack_owns_the_cluster(world: World) -> None:
    made_elsewhere(world)
    name = adopt(world)["PhysicalResourceId"]
    own = properties(ClusterName="theirs")
    assert world.finish(world.event("Update", own, adopting(), name))["Status"] == "SUCCESS"
    assert world.finish(world.event("Delete", own, physical_id=name))["Status"] == "SUCCESS"
    assert world.sagemaker.living() == []


@pytest.mark.fault(39)
def test_replacing_an_adopted_cluster_does_not_delete_it(world: World) -> None:
    made_elsewhere(world)
    name = adopt(world)["PhysicalResourceId"]
    done = world.finish(world.event("Update", properties(ClusterName="ours"), adopting(), name))
    assert done["PhysicalResourceId"] == "ours"
    assert world.finish(world.event("Delete", adopting(), physical_id=name))["Status"] == "SUCCESS"
    assert sorted(world.sagemaker.living()) == ["ours", "theirs"]


@pytest.mark.fault(40)
def test_the_rollback_of_a_failed_replacement_of_an_adopted_cluster_deletes_only_the_new_one(world: World) -> None:
    made_elsewhere(world)
    name = adopt(world)["PhysicalResourceId"]
    world.sagemaker.creation_fails = "no capacity"
    ours = properties(ClusterName="ours")
    assert world.finish(world.event("Update", ours, adopting(), name))["Status"] == "FAILED"
    assert world.finish(world.event("Update", adopting(), ours, name))["Status"] == "SUCCESS"
    assert world.sagemaker.living() == ["theirs"]


def test_an_update_neither_adopts_nor_creates_a_cluster_with_another_name(world: World) -> None:
    made_elsewhere(world)
    name = adopt(world)["PhysicalResourceId"]
    other = adopting() | {"ClusterName": "another"}
    done = world.finish(world.event("Update", other, adopting(), name))
    assert done["Status"] == "FAILED"
    assert world.sagemaker.living() == ["theirs"]


@pytest.mark.fault(55)
def test_of_two_stacks_that_adopt_at_once_one_owns_the_cluster_and_the_other_stops(world: World) -> None:
    cluster = made_elsewhere(world)
    raw = world.deliver(world.event("Create", adopting(request(CONTROLLER, workers(6)))))
    world.run(31)
    cluster.tags["hyperpod-cdk:stack-id"] = STACK.replace("reference", "another")
    world.run(60)
    answer = world.response(raw)
    assert answer["Status"] == "FAILED"
    assert "stack/another-Cluster" in answer["Reason"]
    world.finish(world.event("Delete", raw["ResourceProperties"], physical_id=answer["PhysicalResourceId"]))
    assert world.sagemaker.changes() == ["AddTags"]


@pytest.mark.fault(34)
def test_tags_that_arrive_after_the_delete_checked_are_removed_too(world: World) -> None:
    cluster = made_elsewhere(world)
    raw = world.deliver(world.event("Create", adopting()))
    cluster.become("SystemUpdating")
    world.run(30)
    tags = dict(cluster.tags)
    deletion = world.deliver(world.event("Delete", adopting(), physical_id=f"reference-Cluster-{raw['LogicalResourceId']}-1A"))
    world.run(30)
    cluster.tags |= {"hyperpod-cdk:stack-id": STACK, "hyperpod-cdk:logical-id": raw["LogicalResourceId"]}
    world.run(300)
    assert world.response(deletion)["Status"] == "SUCCESS"
    assert not OWNER & cluster.tags.keys()
    assert tags.keys() - OWNER == cluster.tags.keys()


def taken_out_and_back(world: World) -> FakeCluster:
    """A cluster that left the stack with its tags on, and was changed by an operator since."""
    owner = {"hyperpod-cdk:stack-id": STACK, "hyperpod-cdk:logical-id": LOGICAL_ID, "hyperpod-cdk:version": "1"}
    tags = [{"Key": key, "Value": value} for key, value in owner.items()]
    return made_elsewhere(world, CONTROLLER, workers(10), tags=tags)


def test_an_adoption_of_a_cluster_with_the_stacks_tags_removes_no_nodes(world: World) -> None:
    cluster = taken_out_and_back(world)
    done = adopt(world, adopting(request(CONTROLLER, workers(4), subnet="subnet-0bbbbbbbbbbbbbbbb")))
    assert done["Status"] == "FAILED"
    assert "Subnets is" in done["Reason"]
    assert "workers.InstanceCount is 10, the file has 4" in done["Reason"]
    assert "nothing was changed" not in done["Reason"]
    assert world.sagemaker.changes() == []
    assert cluster.groups["workers"]["InstanceCount"] == 10


def test_nodes_added_during_the_adoption_are_not_removed(world: World) -> None:
    cluster = made_elsewhere(world, CONTROLLER, workers(4))
    raw = world.deliver(world.event("Create", adopting(request(CONTROLLER, workers(6)))))
    world.run(35)
    assert world.sagemaker.changes() == ["AddTags"]
    cluster.groups["workers"]["InstanceCount"] = 8
    world.run(600)
    assert "workers.InstanceCount is 8, the file has 6" in world.response(raw)["Reason"]
    assert world.sagemaker.changes() == ["AddTags"]


def test_an_update_of_a_missing_adopted_cluster_names_a_fix_that_works(world: World) -> None:
    made_elsewhere(world)
    wanted = adopting()
    assert adopt(world, wanted)["Status"] == "SUCCESS"
    world.sagemaker.all[0].go()
    more = adopting(request(CONTROLLER, workers(6)))
    failed = world.finish(world.event("Update", more, wanted, "theirs"))
    assert "replace `adopt` with `recreate: true`" in failed["Reason"]
    anew = properties(request(CONTROLLER, workers(6)), ClusterName="theirs", Recreate=True)
    assert world.finish(world.event("Update", anew, more, "theirs"))["Status"] == "SUCCESS"
    assert world.sagemaker.living() == ["theirs"]


def test_a_cluster_that_left_the_stack_is_neither_adopted_without_adopt_nor_deleted_by_the_rollback(world: World) -> None:
    name = world.name_of(world.event("Create", properties()))
    owner = {"hyperpod-cdk:stack-id": STACK, "hyperpod-cdk:logical-id": LOGICAL_ID, "hyperpod-cdk:version": "1"}
    tags = [{"Key": key, "Value": value} for key, value in owner.items()]
    world.create_outside(name, **request(), Tags=tags)
    world.run(3600)
    world.sagemaker.calls.clear()
    done = world.finish(world.event("Create", properties()))
    assert done["Status"] == "FAILED"
    assert f"cluster {name} left this stack and still runs" in done["Reason"]
    assert "`adopt: true` to take it back" in done["Reason"]
    gone = world.finish(world.event("Delete", properties(), physical_id=done["PhysicalResourceId"]))
    assert gone["Status"] == "SUCCESS"
    assert world.sagemaker.changes() == []
    assert world.sagemaker.living() == [name]
