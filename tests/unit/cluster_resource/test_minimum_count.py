"""With continuous provisioning the cluster stays InService, even if the service rolls back a group."""

import pytest

from tests.unit.cluster_resource.fake_cluster import FakeCluster
from tests.unit.cluster_resource.updates import CONTROLLER, Json, workers
from tests.unit.cluster_resource.world import World, properties, request


def counted(count: int) -> Json:
    return properties(request(CONTROLLER, workers(count, MinInstanceCount=count), NodeProvisioningMode="Continuous"))


@pytest.mark.fault(16)
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
