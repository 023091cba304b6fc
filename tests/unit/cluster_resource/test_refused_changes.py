"""Changes that UpdateCluster cannot make, or that the cluster does not show, are no success; their rollback is."""

from collections.abc import Callable

import pytest

from tests.unit.cluster_resource.modes import API
from tests.unit.cluster_resource.updates import CONTROLLER, Json, update, workers
from tests.unit.cluster_resource.world import World, properties, request

KEY, OTHER = ("arn:aws:kms:us-west-2:123456789012:key/" + digit * 8 for digit in "12")
IMAGES = ("ami-0123456789abcdef1", "ami-0123456789abcdef2")
DATABASE = {"Endpoint": "db.example.com", "Port": 3306, "SecretArn": "arn:aws:secretsmanager:us-west-2:123456789012:secret:db"}


def encrypted(*keys: str) -> Json:
    """A file whose workers' root volumes have the key."""
    volumes = [{"EbsVolumeConfig": {"VolumeKmsKeyId": key, "RootVolume": True}} for key in keys]
    return properties(request(CONTROLLER, workers(4, **({"InstanceStorageConfigs": volumes} if volumes else {}))))


def of_capacity(source: str = "") -> Json:
    return properties(request(CONTROLLER, workers(4, **({"CapacityRequirements": {source: {}}} if source else {}))))


def with_database(*, is_managed: bool) -> Json:
    slurm: Json = {"Orchestrator": {"Slurm": {"AccountingDatabase": DATABASE}}} if is_managed else {}
    return properties({**request(CONTROLLER, workers(4)), **slurm})


@pytest.mark.fault(53)
@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        (
            encrypted(KEY),
            encrypted(OTHER),
            "VolumeKmsKeyId of instance group 'workers' cannot change from '11111111' to '22222222'",
        ),
        (encrypted(KEY), encrypted(), "VolumeKmsKeyId of instance group 'workers' cannot change from '11111111' to None"),
        (encrypted(), encrypted(KEY), "VolumeKmsKeyId of instance group 'workers' cannot change from None to '11111111'"),
        (of_capacity("Spot"), of_capacity(), "CapacityRequirements of instance group 'workers' cannot change from {'Spot': {}}"),
    ],
)
def test_a_key_or_a_removed_capacity_source_cannot_change(world: World, old: Json, new: Json, change: str) -> None:
    name = world.create(old)["PhysicalResourceId"]
    done = update(world, name, new, old)
    assert done["Status"] == "FAILED"
    assert change in done["Reason"]
    assert "rename the group" in done["Reason"]
    assert update(world, name, old, new)["Status"] == "SUCCESS"
    assert world.sagemaker.changes() == []


@pytest.mark.parametrize(
    ("before", "after", "option"),
    [
        ({}, {"ImageId": IMAGES[1]}, f"--image-id {IMAGES[1]} --instance-groups InstanceGroupName=workers`"),
        ({"ImageId": IMAGES[0]}, {"ImageId": IMAGES[1]}, f"--image-id {IMAGES[1]} --instance-groups InstanceGroupName=workers`"),
        ({}, {"ImageReleaseVersion": "1.1.0"}, "--instance-groups InstanceGroupName=workers,ImageReleaseVersion=1.1.0`"),
    ],
)
def test_a_deployment_never_updates_the_software_of_nodes(world: World, before: Json, after: Json, option: str) -> None:
    old, new = properties(request(CONTROLLER, workers(4, **before))), properties(request(CONTROLLER, workers(4, **after)))
    name = world.create(old)["PhysicalResourceId"]
    done = update(world, name, new, old)
    assert done["Status"] == "FAILED"
    assert f"`aws sagemaker update-cluster-software --cluster-name {name} {option}, which ends its jobs" in done["Reason"]
    assert update(world, name, old, new)["Status"] == "SUCCESS"
    assert world.sagemaker.changes() == []
    world.sagemaker.all[0].groups["workers"] |= after  # as by UpdateClusterSoftware
    assert update(world, name, new, old)["Status"] == "SUCCESS"


def test_the_id_of_a_key_is_no_other_key_than_its_arn(world: World) -> None:
    by_id = encrypted(KEY.rsplit("/", 1)[-1])
    name = world.create(encrypted(KEY))["PhysicalResourceId"]
    assert update(world, name, by_id, encrypted(KEY))["Status"] == "SUCCESS"


def test_the_first_additional_volume_of_a_group_with_a_key_is_no_change_of_the_key(world: World) -> None:
    name = world.create(encrypted(KEY))["PhysicalResourceId"]
    volumes = [{"EbsVolumeConfig": {"VolumeKmsKeyId": KEY, **more}} for more in ({"VolumeSizeInGB": 100}, {"RootVolume": True})]
    wanted = properties(request(CONTROLLER, workers(4, InstanceStorageConfigs=volumes)))
    assert update(world, name, wanted, encrypted(KEY))["Status"] == "SUCCESS"
    assert world.sagemaker.changes() == ["UpdateCluster"]


@pytest.fixture
def keep_spot(world: World, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Let the service accept updates without changing the capacity source."""
    whole = world.sagemaker.describe_cluster

    def unchanged(**arguments: str) -> Json:
        described = whole(**arguments)
        described["InstanceGroups"][1]["CapacityRequirements"] = {"Spot": {}}
        return described

    return lambda: monkeypatch.setattr(world.sagemaker, "describe_cluster", unchanged)


@pytest.mark.fault(13)
def test_a_capacity_source_that_the_cluster_does_not_show_is_no_success(world: World, keep_spot: Callable[[], None]) -> None:
    old, new = of_capacity("Spot"), of_capacity("OnDemand")
    name = world.create(old)["PhysicalResourceId"]
    keep_spot()
    done = update(world, name, new, old)
    assert done["Status"] == "FAILED"
    assert "workers.CapacityRequirements" in done["Reason"]
    assert update(world, name, old, new)["Status"] == "SUCCESS"


def test_a_capacity_source_that_the_cluster_shows_is_a_success(world: World) -> None:
    old, new = of_capacity("Spot"), of_capacity("OnDemand")
    name = world.create(old)["PhysicalResourceId"]
    assert update(world, name, new, old)["Status"] == "SUCCESS"


@pytest.mark.parametrize("mode", [API], indirect=True)
def test_a_managed_database_cannot_be_removed(world: World) -> None:
    old, new = with_database(is_managed=True), with_database(is_managed=False)
    name = world.create(old)["PhysicalResourceId"]
    done = update(world, name, new, old)
    assert done["Status"] == "FAILED"
    assert "slurm.accounting.database of cluster" in done["Reason"]
    assert "set `database: managed`" in done["Reason"]
    assert update(world, name, old, new)["Status"] == "SUCCESS"
    assert world.sagemaker.changes() == []


@pytest.mark.parametrize("mode", [API], indirect=True)
def test_the_rollback_of_a_database_that_the_cluster_never_got_is_a_success(world: World) -> None:
    old, new = with_database(is_managed=False), with_database(is_managed=True)
    name = world.create(old)["PhysicalResourceId"]
    assert update(world, name, old, new)["Status"] == "SUCCESS"
