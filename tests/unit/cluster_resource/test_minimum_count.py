"""With continuous provisioning the cluster stays InService, even if the service rolls back a group."""

import pytest

from tests.unit.cluster_resource.fake_cluster import FakeCluster
from tests.unit.cluster_resource.updates import CONTROLLER, Json, workers
from tests.unit.cluster_resource.world import World, properties, request


def counted(count: int) -> Json:
    return properties(request(CONTROLLER, workers(count, MinInstanceCount=count), NodeProvisioningMode="Continuous"))


@pytest.mark.fault(16)
@pytest.mark.only_mode("api", reason="only a continuous cluster stays InService")
def test_a_group_below_its_minimum_that_is_rolled_back_without_a_message_is_a_failure(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = world.create(counted(4))["PhysicalResourceId"]
    cluster: FakeCluster = world.sagemaker.all[0]

    def accepted(**wanted: Json) -> Json:
        put_back = cluster.update(wanted)
        cluster.later(900, put_back)
        return {"ClusterArn": cluster.arn}

    monkeypatch.setattr(world.sagemaker, "update_cluster", accepted)
    raw = world.deliver(world.event("Update", counted(6), counted(4), name))
    world.run(600)
    assert cluster.status == "InService"
    assert raw["RequestId"] not in world.responses, "four of six run"
    world.run()
    done = world.response(raw)
    assert done["Status"] == "FAILED"
    assert "still different: workers.InstanceCount" in done["Reason"]


def test_a_cluster_with_partial_capacity_succeeds_and_says_how_many_nodes_run(world: World) -> None:
    wanted = properties(request(CONTROLLER, workers(6, MinInstanceCount=3), NodeProvisioningMode="Continuous"))
    raw = world.deliver(world.event("Create", wanted))
    world.run(31)
    cluster: FakeCluster = world.sagemaker.all[0]
    cluster.become("InService")
    cluster.running = {"controller": 1, "workers": 2}
    world.run(120)
    assert raw["RequestId"] not in world.responses, "two of at least three run"
    cluster.running = {"controller": 1, "workers": 4}
    world.run()
    done = world.response(raw)
    assert done["Status"] == "SUCCESS"
    missing = "workers (4 of 6 nodes run)"
    assert f"HyperPod adds the rest when it has capacity: {missing}" in done["Reason"]
    assert done["Data"]["MissingNodes"] == missing


def test_a_minimum_that_only_the_cluster_has_is_not_enough(world: World) -> None:
    """HyperPod keeps the minimum of an update that was rolled back."""
    old, new = (properties(request(CONTROLLER, workers(count), NodeProvisioningMode="Continuous")) for count in (4, 6))
    name = world.create(old)["PhysicalResourceId"]
    cluster: FakeCluster = world.sagemaker.all[0]
    cluster.groups["workers"]["MinInstanceCount"] = 3
    world.sagemaker.offer(4)
    raw = world.deliver(world.event("Update", new, old, name))
    world.run(900)
    assert raw["RequestId"] not in world.responses, "four of six run"
    world.sagemaker.offer(None)
    world.run()
    assert world.response(raw)["Status"] == "SUCCESS"


@pytest.mark.parametrize(
    ("old", "new", "fix"),
    [
        ({}, {"NodeProvisioningMode": "Continuous"}, "can be set only at its creation; remove `provisioning`"),
        ({"NodeProvisioningMode": "Continuous"}, {}, "cannot change; set `provisioning: continuous`"),
    ],
)
def test_a_change_of_provisioning_is_refused_before_any_call(world: World, old: Json, new: Json, fix: str) -> None:
    before, after = (properties(request(CONTROLLER, workers(4), **more)) for more in (old, new))
    name = world.create(before)["PhysicalResourceId"]
    done = world.finish(world.event("Update", after, before, name))
    assert done["Status"] == "FAILED"
    assert fix in done["Reason"]
    assert not world.sagemaker.changes()
