"""The file chooses what to wait for: the nodes (at least MinInstanceCount), the cluster, or nothing."""

import pytest

from cluster_resource.event import WAIT
from tests.unit.cluster_resource.updates import CONTROLLER, FOUR, workers
from tests.unit.cluster_resource.world import World, properties, request


def raw_of_wait(world: World, name: str, **more: object) -> dict[str, object]:
    wanted = {"PropertiesVersion": "1", "ClusterName": name, "Hour": 2, "Last": True, "Trigger": "t", **more}
    return world.event("Create", wanted, ResourceType=WAIT, LogicalResourceId="Wait2")


@pytest.mark.fault(15)
@pytest.mark.parametrize(("wait", "status"), [("nodes", "FAILED"), ("cluster", "SUCCESS")])
def test_later_hours_wait_for_what_the_file_waits_for(world: World, wait: str, status: str) -> None:
    name = world.create()["PhysicalResourceId"]
    world.sagemaker.all[0].running["workers"] = 0
    assert world.finish(raw_of_wait(world, name, Wait=wait))["Status"] == status


@pytest.mark.parametrize(
    ("least", "status"),
    [({"controller": 0, "workers": 0}, "FAILED"), ({"controller": 0, "workers": 3}, "SUCCESS"), (None, "SUCCESS")],
)
def test_later_hours_wait_for_the_files_minimum_or_that_of_the_cluster_in_an_older_template(
    world: World, least: dict[str, int] | None, status: str
) -> None:
    """HyperPod keeps the minimum of an update that was rolled back."""
    name = world.create()["PhysicalResourceId"]
    world.sagemaker.all[0].groups["workers"]["MinInstanceCount"] = 3
    world.sagemaker.all[0].running["workers"] = 3
    assert world.finish(raw_of_wait(world, name, **({"MinInstanceCounts": least} if least else {})))["Status"] == status


def test_with_wait_none_tags_are_still_changed(world: World) -> None:
    name = world.create(FOUR)["PhysicalResourceId"]
    tagged = properties(request(CONTROLLER, workers(6), Tags=[{"Key": "team", "Value": "ml"}]), Wait="none")
    done = world.finish(world.event("Update", tagged, FOUR, name))
    assert done["Status"] == "SUCCESS"
    assert world.sagemaker.changes() == ["UpdateCluster", "AddTags"]
    assert world.sagemaker.all[0].status == "Updating"


@pytest.mark.fault(40)
def test_with_wait_none_a_failed_replacement_is_still_deleted(world: World) -> None:
    old = properties(request(CONTROLLER, workers(4)), Wait="none")
    new = properties(request(CONTROLLER, workers(4), subnet="subnet-00000000000000002"), Wait="none")
    name = world.create(old)["PhysicalResourceId"]
    world.run(700)
    unreported = world.name_of(world.event("Create", new))
    tags = [{"Key": key, "Value": value} for key, value in world.sagemaker.all[0].tags.items()]
    world.create_outside(unreported, **request(), Tags=tags)
    world.run(700)
    back = properties(request(CONTROLLER, workers(6)), Wait="none")
    assert world.finish(world.event("Update", back, new, name))["Status"] == "SUCCESS"
    assert world.sagemaker.living() == [name]


def test_with_wait_none_an_earlier_cluster_with_the_name_is_updated_to_the_file(world: World) -> None:
    old = properties(request(CONTROLLER, workers(4)), Wait="none")
    new = properties(request(CONTROLLER, workers(6), subnet="subnet-00000000000000002"), Wait="none")
    name = world.create(old)["PhysicalResourceId"]
    earlier = world.name_of(world.event("Create", new))
    tags = [{"Key": key, "Value": value} for key, value in world.sagemaker.all[0].tags.items()]
    asked = request(CONTROLLER, workers(4), subnet="subnet-00000000000000002")
    world.create_outside(earlier, **asked, Tags=tags)
    world.run(700)
    done = world.finish(world.event("Update", new, old, name))
    assert (done["Status"], done["PhysicalResourceId"]) == ("SUCCESS", earlier)
    assert world.sagemaker.changes()[-1] == "UpdateCluster"
