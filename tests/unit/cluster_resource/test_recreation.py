"""With `recreate`, the next update recreates a cluster that was deleted by hand."""

import pytest

from tests.unit.cluster_resource.fake_sagemaker import LostReply, Refusal
from tests.unit.cluster_resource.updates import CONTROLLER, Json, update, workers
from tests.unit.cluster_resource.world import World, properties, request


def wanted(count: int) -> Json:
    return properties(request(CONTROLLER, workers(count)), Recreate=True)


@pytest.fixture
def name(world: World) -> str:
    """A cluster that is gone, and was made for a file that opts in."""
    name: str = world.create(wanted(4))["PhysicalResourceId"]
    world.sagemaker.all[0].go()
    return name


@pytest.mark.fault(20)
def test_a_missing_cluster_is_recreated_with_its_name_and_awaited(world: World, name: str) -> None:
    done = update(world, name, wanted(6), wanted(4))
    assert done["Status"] == "SUCCESS"
    assert done["PhysicalResourceId"] == name
    assert world.sagemaker.changes() == ["CreateCluster"]
    new = world.sagemaker.find(name)
    assert new
    assert done["Data"]["ClusterArn"] == new.arn
    assert new.running == {"controller": 1, "workers": 6}


@pytest.mark.fault(20)
def test_a_cluster_that_cannot_be_recreated_is_deleted_with_the_stack(world: World, name: str) -> None:
    world.sagemaker.creation_fails = "We currently do not have sufficient capacity"
    done = update(world, name, wanted(6), wanted(4))
    assert done["Status"] == "FAILED"
    assert "sufficient capacity" in done["Reason"]
    assert world.finish(world.event("Delete", wanted(6), physical_id=name))["Status"] == "SUCCESS"
    assert world.sagemaker.living() == []


@pytest.mark.fault(20)
def test_a_cluster_that_disappears_again_is_not_recreated_twice(world: World, name: str) -> None:
    raw = world.deliver(world.event("Update", wanted(6), wanted(4), name))
    world.run(120)
    world.sagemaker.all[-1].go()
    world.run()
    assert "disappeared" in world.response(raw)["Reason"]
    assert world.sagemaker.changes() == ["CreateCluster"]


@pytest.mark.fault(20)
def test_a_lost_reply_of_its_creation_creates_no_second_cluster(world: World, name: str) -> None:
    world.sagemaker.order("CreateCluster", LostReply())
    world.sagemaker.stale_s = 70
    assert update(world, name, wanted(6), wanted(4))["Status"] == "SUCCESS"
    assert world.sagemaker.living() == [name]
    assert len(world.sagemaker.all) == 2


def test_one_read_without_the_cluster_creates_no_other(world: World) -> None:
    name = world.create(wanted(4))["PhysicalResourceId"]
    world.sagemaker.order("DescribeCluster", Refusal("ResourceNotFound"))
    assert update(world, name, wanted(6), wanted(4))["Status"] == "SUCCESS"
    assert len(world.sagemaker.all) == 1
