"""What AWS's sources leave open is a switch: the worse case is the default."""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from local_aws.hyperpod import service_behaviour
from tests.local.hyperpod.world import World

HEAD = {"NodeType": "Controller", "PartitionNames": []}
VOLUMES = [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}, {"EbsVolumeConfig": {"RootVolume": True}}]


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    yield
    service_behaviour.reset()


def shown(world: World) -> dict[str, Any]:
    name = world.create(world.group("a", InstanceStorageConfigs=VOLUMES, SlurmConfig=HEAD))
    described: dict[str, Any] = world.sagemaker.describe_cluster(ClusterName=name)
    return described


def test_a_description_has_the_defaults_and_no_empty_lists(world: World) -> None:
    described = shown(world)
    (group,) = described["InstanceGroups"]
    assert (described["NodeRecovery"], group["MinCount"]) == ("Automatic", 0)
    assert group["SlurmConfig"] == {"NodeType": "Controller"}
    assert group["InstanceStorageConfigs"] == [VOLUMES[1], {"EbsVolumeConfig": {"VolumeSizeInGB": 500, "RootVolume": False}}]


def test_a_description_can_repeat_the_request(world: World) -> None:
    service_behaviour.choose({"echo": "exact"})
    described = shown(world)
    (group,) = described["InstanceGroups"]
    assert "NodeRecovery" not in described
    assert group["InstanceStorageConfigs"] == VOLUMES
    assert group["SlurmConfig"] == HEAD


def test_a_slurm_cluster_can_be_continuous_by_default(world: World) -> None:
    service_behaviour.choose({"provisioning": "continuous"})
    with pytest.raises(ClientError, match="has no InstanceGroup with SlurmConfig which is required for Continuous"):
        world.create(world.group("a"))
    head = world.group("a", SlurmConfig={"NodeType": "Controller"})
    described = world.sagemaker.describe_cluster(ClusterName=world.create(head))
    assert described["NodeProvisioningMode"] == "Continuous"


def test_an_unknown_behaviour_is_an_error() -> None:
    with pytest.raises(ValueError, match="echo=loud: unknown; available: echo="):
        service_behaviour.choose({"echo": "loud"})
