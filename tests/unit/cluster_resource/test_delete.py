"""A Delete deletes the cluster, never one of another owner, and reports why if it cannot."""

import pytest

from cluster_resource.decision import Memory
from cluster_resource.event import Event
from cluster_resource.executions import LISTED_S
from tests.unit.cluster_resource.fake_sagemaker import LostReply, Refusal
from tests.unit.cluster_resource.world import LOGICAL_ID, World, properties

INVENTED = f"reference-Cluster-{LOGICAL_ID}-1K3ZQ7XW9ABCD"


def test_a_delete_succeeds_after_the_cluster_is_deleted(world: World) -> None:
    name = world.create()["PhysicalResourceId"]
    done = world.finish(world.event("Delete", properties(), physical_id=name))
    assert done["Status"] == "SUCCESS"
    assert done["PhysicalResourceId"] == name
    assert world.sagemaker.living() == []
    assert world.sagemaker.changes() == ["DeleteCluster"]


@pytest.mark.fault(19)
def test_deleting_a_missing_cluster_succeeds_at_the_first_step(world: World) -> None:
    name = world.create()["PhysicalResourceId"]
    world.sagemaker.all[0].go()
    begin = world.clock.now
    assert world.finish(world.event("Delete", properties(), physical_id=name))["Status"] == "SUCCESS"
    assert (world.clock.now - begin).total_seconds() == LISTED_S


@pytest.mark.fault(17)
@pytest.mark.parametrize("status", ["Creating", "Updating", "RollingBack"])
def test_a_busy_cluster_is_deleted_as_soon_as_the_service_accepts_it(world: World, status: str) -> None:
    name = world.create()["PhysicalResourceId"]
    cluster = world.sagemaker.all[0]
    cluster.become(status)
    cluster.later(400, lambda: cluster.become("InService"))
    assert world.finish(world.event("Delete", properties(), physical_id=name))["Status"] == "SUCCESS"
    assert world.sagemaker.living() == []


@pytest.mark.fault(6)
def test_throttles_and_lost_replies_do_not_fail_a_delete(world: World) -> None:
    name = world.create()["PhysicalResourceId"]
    world.sagemaker.order("DeleteCluster", Refusal("ThrottlingException"), 10)
    world.sagemaker.order("DeleteCluster", LostReply())
    assert world.finish(world.event("Delete", properties(), physical_id=name))["Status"] == "SUCCESS"


@pytest.mark.fault(18)
def test_a_deletion_that_lacks_a_permission_fails_early_and_names_it(world: World) -> None:
    name = world.create()["PhysicalResourceId"]
    world.sagemaker.deletion_s = None
    world.sagemaker.all[0].node_message = "The role does not have permission to perform ec2:DeleteNetworkInterface"
    begin = world.clock.now
    done = world.finish(world.event("Delete", properties(), physical_id=name))
    assert done["Status"] == "FAILED"
    assert "ec2:DeleteNetworkInterface" in done["Reason"]
    assert (world.clock.now - begin).total_seconds() < 600


@pytest.mark.fault(34)
def test_a_delete_with_a_generated_id_deletes_the_cluster_and_supersedes_the_running_create(world: World) -> None:
    create = world.deliver(world.event("Create", properties()))
    world.run(65)
    done = world.finish(world.event("Delete", properties(), physical_id=INVENTED))
    assert done["Status"] == "SUCCESS"
    assert done["PhysicalResourceId"] == INVENTED
    assert world.sagemaker.living() == []
    assert "superseded" in world.response(create)["Reason"]
    assert world.response(create)["Status"] == "FAILED"


@pytest.mark.fault(25)
@pytest.mark.fault(34)
@pytest.mark.parametrize("after_s", [60, 220])
def test_a_create_call_that_lands_after_its_delete_began_leaves_no_cluster(world: World, after_s: float) -> None:
    """The Create's step was stopped with CreateCluster on its way; it lands a minute later, or more after several deaths."""
    create = world.event("Create", properties())
    world.executions.start(Event.parse(create), create, Memory(fence="hangs"))
    world.clock.advance(LISTED_S + 1)
    delete = world.event("Delete", properties(), physical_id=INVENTED)
    world.deliver(delete)
    world.run(after_s)
    assert delete["RequestId"] not in world.responses
    tags = {"hyperpod-cdk:stack-id": create["StackId"], "hyperpod-cdk:logical-id": LOGICAL_ID}
    name = world.name_of(create)
    listed = [{"Key": key, "Value": value} for key, value in tags.items()]
    world.create_outside(name, **{**properties()["Request"], "Tags": listed})
    world.run()
    assert world.response(delete)["Status"] == "SUCCESS"
    assert world.sagemaker.living() == []


BROKEN = [
    properties({"InstanceGroups": "nonsense", "Nonsense": "x"}),
    properties({"Tags": [{"Name": "no key"}]}),
    properties(WaitHours="soon"),
]


@pytest.mark.parametrize("broken", BROKEN)
def test_no_invalid_property_prevents_a_deletion(world: World, broken: dict[str, object]) -> None:
    name = world.create()["PhysicalResourceId"]
    assert world.finish(world.event("Delete", broken, physical_id=name))["Status"] == "SUCCESS"
    assert world.sagemaker.living() == []


@pytest.mark.fault(46)
def test_a_deletion_longer_than_an_hour_fails_unless_another_resource_waits(world: World) -> None:
    name = world.create()["PhysicalResourceId"]
    world.sagemaker.deletion_s = 99_999
    done = world.finish(world.event("Delete", properties(), physical_id=name))
    assert done["Status"] == "FAILED"
    assert "still Deleting after 57 minutes" in done["Reason"]
    assert world.finish(world.event("Delete", properties(WaitHours=2), physical_id=name))["Status"] == "SUCCESS"


@pytest.mark.fault(46)
def test_a_deletion_that_was_never_accepted_fails_even_if_another_resource_waits(world: World) -> None:
    name = world.create()["PhysicalResourceId"]
    world.sagemaker.all[0].become("Updating")
    assert world.finish(world.event("Delete", properties(WaitHours=2), physical_id=name))["Status"] == "FAILED"
