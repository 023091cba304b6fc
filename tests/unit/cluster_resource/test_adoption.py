"""A cluster that was made elsewhere is taken over by its name, untouched; no Delete deletes it while the file says `adopt`."""

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
    world.sagemaker.create_cluster(ClusterName="theirs", **{**request(*groups), **more}, Tags=tags)
    world.run(700)
    world.sagemaker.calls.clear()
    cluster = world.sagemaker.find("theirs")
    assert cluster
    return cluster


def adopt(world: World, wanted: Json | None = None) -> Json:
    return world.finish(world.event("Create", wanted or adopting()))


def test_a_cluster_that_is_as_the_file_says_gets_tags_and_nothing_else(world: World) -> None:
    cluster = made_elsewhere(world)
    done = adopt(world)
    assert done["Status"] == "SUCCESS"
    assert done["PhysicalResourceId"] == "theirs"
    assert done["Data"]["ClusterArn"] == cluster.arn
    assert world.sagemaker.changes() == ["AddTags"]
    assert cluster.tags["hyperpod-cdk:stack-id"] == STACK
    assert cluster.tags["team"] == "vision"


def test_what_differs_is_updated_after_the_cluster_was_taken_over(world: World) -> None:
    cluster = made_elsewhere(world, group("by-hand", 2), CONTROLLER, workers(4))
    tags = [{"Key": "cost", "Value": "a1"}]
    assert adopt(world, adopting(request(CONTROLLER, workers(6), Tags=tags)))["Status"] == "SUCCESS"
    assert world.sagemaker.changes() == ["AddTags", "UpdateCluster", "AddTags"]
    assert {name: item["InstanceCount"] for name, item in cluster.groups.items()} == {"by-hand": 2, "controller": 1, "workers": 6}


def test_a_node_that_is_broken_already_does_not_keep_a_cluster_from_being_adopted(world: World) -> None:
    made_elsewhere(world).running["workers"] = 3
    assert adopt(world)["Status"] == "SUCCESS"


def test_what_no_update_can_change_is_refused_before_any_call_with_each_field(world: World) -> None:
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
def test_without_the_word_adopt_another_ones_cluster_is_left_alone(world: World) -> None:
    made_elsewhere(world)
    done = world.finish(world.event("Create", properties(ClusterName="theirs")))
    assert done["Status"] == "FAILED"
    assert "set `adopt`" in done["Reason"]
    assert not world.sagemaker.changes()


@pytest.mark.fault(55)
def test_a_cluster_of_another_stack_is_not_taken_from_it(world: World) -> None:
    tags = {"hyperpod-cdk:stack-id": STACK.replace("reference", "another"), "hyperpod-cdk:logical-id": "Cluster"}
    made_elsewhere(world, tags=[{"Key": key, "Value": value} for key, value in tags.items()])
    done = adopt(world)
    assert done["Status"] == "FAILED"
    assert "stack/another-Cluster" in done["Reason"]
    assert "ops adopt CLUSTER --release" in done["Reason"]
    assert not world.sagemaker.changes()


def test_a_name_that_no_cluster_has_makes_none(world: World) -> None:
    done = adopt(world)
    assert done["Status"] == "FAILED"
    assert "no cluster theirs to adopt" in done["Reason"]
    assert not world.sagemaker.all


@pytest.mark.parametrize("status", ["Failed", "Deleting"])
def test_a_cluster_that_is_lost_is_not_adopted(world: World, status: str) -> None:
    made_elsewhere(world).become(status)
    assert f"cluster theirs is {status} and cannot be adopted; delete it" in adopt(world)["Reason"]
    assert not world.sagemaker.changes()


def test_a_cluster_that_is_busy_is_adopted_when_it_stands_still(world: World) -> None:
    cluster = made_elsewhere(world)
    cluster.become("SystemUpdating")
    raw = world.deliver(world.event("Create", adopting()))
    world.run(300)
    assert not world.sagemaker.changes()
    cluster.become("InService")
    world.run(60)
    assert world.answer(raw)["Status"] == "SUCCESS"


@pytest.mark.fault(1)
def test_a_lost_reply_of_the_tagging_changes_nothing(world: World) -> None:
    made_elsewhere(world)
    world.sagemaker.order("AddTags", LostReply())
    assert adopt(world)["Status"] == "SUCCESS"
    assert world.sagemaker.changes() == ["AddTags"]


@pytest.mark.fault(35)
def test_the_rollback_of_an_adoption_that_failed_gives_the_cluster_back(world: World) -> None:
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


def test_the_rollback_of_a_stack_that_failed_elsewhere_gives_the_cluster_back(world: World) -> None:
    cluster = made_elsewhere(world)
    name = adopt(world)["PhysicalResourceId"]
    assert world.finish(world.event("Delete", adopting(), physical_id=name))["Status"] == "SUCCESS"
    assert world.sagemaker.living() == ["theirs"]
    assert not OWNER & cluster.tags.keys()
    assert adopt(world)["Status"] == "SUCCESS"


@pytest.mark.fault(34)
def test_a_delete_that_overtakes_the_adoption_gives_the_cluster_back(world: World) -> None:
    cluster = made_elsewhere(world)
    raw = world.deliver(world.event("Create", adopting(request(CONTROLLER, workers(6)))))
    world.run(60)
    invented = f"reference-Cluster-{raw['LogicalResourceId']}-1ABCDEFGHIJK2"
    assert world.finish(world.event("Delete", adopting(), physical_id=invented))["Status"] == "SUCCESS"
    assert "superseded" in world.answer(raw)["Reason"]
    assert not OWNER & cluster.tags.keys()
    world.run()
    assert world.sagemaker.living() == ["theirs"]


@pytest.mark.fault(2)
def test_the_rollback_of_a_refused_adoption_touches_nothing(world: World) -> None:
    made_elsewhere(world)
    raw = world.event("Create", adopting(request(CONTROLLER)) | {"ControllerGroup": "head"})
    failed = world.finish(raw)
    assert failed["Status"] == "FAILED"
    world.finish(world.event("Delete", raw["ResourceProperties"], physical_id=failed["PhysicalResourceId"]))
    assert not world.sagemaker.changes()


def test_once_the_file_no_longer_says_adopt_the_cluster_is_the_stacks_own(world: World) -> None:
    made_elsewhere(world)
    name = adopt(world)["PhysicalResourceId"]
    own = properties(ClusterName="theirs")
    assert world.finish(world.event("Update", own, adopting(), name))["Status"] == "SUCCESS"
    assert world.finish(world.event("Delete", own, physical_id=name))["Status"] == "SUCCESS"
    assert world.sagemaker.living() == []


@pytest.mark.fault(39)
def test_a_cluster_that_takes_an_adopted_ones_place_leaves_that_to_its_makers(world: World) -> None:
    made_elsewhere(world)
    name = adopt(world)["PhysicalResourceId"]
    done = world.finish(world.event("Update", properties(ClusterName="ours"), adopting(), name))
    assert done["PhysicalResourceId"] == "ours"
    assert world.finish(world.event("Delete", adopting(), physical_id=name))["Status"] == "SUCCESS"
    assert sorted(world.sagemaker.living()) == ["ours", "theirs"]


def test_an_update_neither_adopts_nor_makes_a_cluster_under_another_name(world: World) -> None:
    made_elsewhere(world)
    name = adopt(world)["PhysicalResourceId"]
    other = adopting() | {"ClusterName": "another"}
    done = world.finish(world.event("Update", other, adopting(), name))
    assert done["Status"] == "FAILED"
    assert world.sagemaker.living() == ["theirs"]


@pytest.mark.fault(55)
def test_of_two_stacks_that_adopt_at_once_one_has_the_cluster_and_the_other_touches_it_no_more(world: World) -> None:
    cluster = made_elsewhere(world)
    raw = world.deliver(world.event("Create", adopting(request(CONTROLLER, workers(6)))))
    world.run(31)
    cluster.tags["hyperpod-cdk:stack-id"] = STACK.replace("reference", "another")
    world.run(60)
    answer = world.answer(raw)
    assert answer["Status"] == "FAILED"
    assert "stack/another-Cluster" in answer["Reason"]
    world.finish(world.event("Delete", raw["ResourceProperties"], physical_id=answer["PhysicalResourceId"]))
    assert world.sagemaker.changes() == ["AddTags"]


@pytest.mark.fault(34)
def test_a_tagging_that_comes_after_the_delete_looked_is_undone_too(world: World) -> None:
    cluster = made_elsewhere(world)
    raw = world.deliver(world.event("Create", adopting()))
    cluster.become("SystemUpdating")
    world.run(30)
    tags = dict(cluster.tags)
    deletion = world.deliver(world.event("Delete", adopting(), physical_id=f"reference-Cluster-{raw['LogicalResourceId']}-1A"))
    world.run(30)
    cluster.tags |= {"hyperpod-cdk:stack-id": STACK, "hyperpod-cdk:logical-id": raw["LogicalResourceId"]}
    world.run(300)
    assert world.answer(deletion)["Status"] == "SUCCESS"
    assert not OWNER & cluster.tags.keys()
    assert tags.keys() - OWNER == cluster.tags.keys()


def taken_out_and_back(world: World) -> FakeCluster:
    """A cluster that left the stack with its tags on, and was changed by an operator since."""
    owner = {"hyperpod-cdk:stack-id": STACK, "hyperpod-cdk:logical-id": LOGICAL_ID, "hyperpod-cdk:version": "1"}
    tags = [{"Key": key, "Value": value} for key, value in owner.items()]
    return made_elsewhere(world, CONTROLLER, workers(10), tags=tags)


def test_a_cluster_with_the_stacks_own_tags_loses_no_nodes_either(world: World) -> None:
    cluster = taken_out_and_back(world)
    done = adopt(world, adopting(request(CONTROLLER, workers(4), subnet="subnet-0bbbbbbbbbbbbbbbb")))
    assert done["Status"] == "FAILED"
    assert "Subnets is" in done["Reason"]
    assert "workers.InstanceCount is 10, the file has 4" in done["Reason"]
    assert "nothing was changed" not in done["Reason"]
    assert world.sagemaker.changes() == []
    assert cluster.groups["workers"]["InstanceCount"] == 10


def test_nodes_that_came_while_it_was_taken_over_are_not_taken_away(world: World) -> None:
    cluster = made_elsewhere(world, CONTROLLER, workers(4))
    raw = world.deliver(world.event("Create", adopting(request(CONTROLLER, workers(6)))))
    world.run(35)
    assert world.sagemaker.changes() == ["AddTags"]
    cluster.groups["workers"]["InstanceCount"] = 8
    world.run(600)
    assert "workers.InstanceCount is 8, the file has 6" in world.answer(raw)["Reason"]
    assert world.sagemaker.changes() == ["AddTags"]


def test_an_update_of_an_adopted_cluster_that_is_gone_names_a_remedy_that_works(world: World) -> None:
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


def test_a_cluster_that_was_let_go_is_not_taken_back_unasked_nor_deleted_by_the_rollback(world: World) -> None:
    name = world.name_of(world.event("Create", properties()))
    owner = {"hyperpod-cdk:stack-id": STACK, "hyperpod-cdk:logical-id": LOGICAL_ID, "hyperpod-cdk:version": "1"}
    tags = [{"Key": key, "Value": value} for key, value in owner.items()]
    world.sagemaker.create_cluster(ClusterName=name, **request(), Tags=tags)
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


def test_what_a_call_just_before_the_create_has_made_is_its_own(world: World) -> None:
    world.sagemaker.order("CreateCluster", LostReply())
    raw = world.event("Create", properties())
    assert world.finish(raw)["Status"] == "SUCCESS"
    assert len(world.sagemaker.all) == 1
