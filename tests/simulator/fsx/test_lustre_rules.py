from typing import Any, TypeAlias

import pytest
from botocore.exceptions import ClientError

from tests.simulator.fsx.world import World

pytestmark = pytest.mark.local
Part: TypeAlias = dict[str, Any]
P1, P2 = "PERSISTENT_1", "PERSISTENT_2"


@pytest.mark.parametrize(
    ("request_part", "lustre", "complaint"),
    [
        ({"StorageCapacity": 1800}, {"DeploymentType": P2, "PerUnitStorageThroughput": 250}, "Invalid storage capacity 1800"),
        ({"StorageCapacity": 3600}, {"DeploymentType": "SCRATCH_2"}, "Invalid storage capacity 3600"),
        ({}, {"DeploymentType": P2, "PerUnitStorageThroughput": 200}, "InvalidPerUnitStorageThroughput"),
        ({}, {"DeploymentType": P2}, "InvalidPerUnitStorageThroughput"),
        ({}, {"DeploymentType": P1, "PerUnitStorageThroughput": 250}, "InvalidPerUnitStorageThroughput"),
        ({}, {"DeploymentType": "SCRATCH_2", "PerUnitStorageThroughput": 250}, "for persistent deployment types"),
        ({"FileSystemTypeVersion": "2.10"}, {"DeploymentType": P2, "PerUnitStorageThroughput": 125}, "does not support"),
        ({"FileSystemTypeVersion": "2.13"}, {"DeploymentType": P2, "PerUnitStorageThroughput": 125}, "must be one of"),
        ({"StorageType": "HDD"}, {"DeploymentType": P2, "PerUnitStorageThroughput": 125}, "HDD is for PERSISTENT_1"),
        (
            {"StorageType": "HDD", "StorageCapacity": 6000},
            {"DeploymentType": P1, "PerUnitStorageThroughput": 40, "DriveCacheType": "NONE"},
            "multiple of 1800",
        ),
        (
            {"FileSystemTypeVersion": "2.12"},
            {"DeploymentType": P2, "PerUnitStorageThroughput": 125, "MetadataConfiguration": {"Mode": "AUTOMATIC"}},
            "needs PERSISTENT_2 and version 2.15",
        ),
        (
            {},
            {"DeploymentType": P2, "PerUnitStorageThroughput": 125, "ImportPath": "s3://data"},
            "data repository associations in place of ImportPath",
        ),
        ({}, {"DeploymentType": "SCRATCH_2", "AutomaticBackupRetentionDays": 3}, "backups are for persistent"),
        ({"KmsKeyId": "alias/x"}, {"DeploymentType": "SCRATCH_2"}, "KmsKeyId is for persistent"),
        ({"SubnetIds": ["subnet-0aaaaaaaaaaaaaaaa"]}, {"DeploymentType": "SCRATCH_2"}, "does not exist"),
    ],
)
def test_a_file_system_that_fsx_does_not_offer_is_refused(
    world: World, request_part: dict[str, Any], lustre: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(ClientError, match=complaint):
        world.create(LustreConfiguration=lustre, **request_part)
    assert world.fsx.describe_file_systems()["FileSystems"] == []


@pytest.mark.parametrize(
    ("request_part", "lustre"),
    [
        ({}, {"DeploymentType": P1, "PerUnitStorageThroughput": 200}),
        (
            {"StorageType": "HDD", "StorageCapacity": 6000},
            {"DeploymentType": P1, "PerUnitStorageThroughput": 12, "DriveCacheType": "READ"},
        ),
        ({"StorageCapacity": 4800}, {"DeploymentType": P2, "PerUnitStorageThroughput": 1000}),
        (
            {},
            {
                "DeploymentType": P2,
                "PerUnitStorageThroughput": 125,
                "EfaEnabled": True,
                "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 1500},
            },
        ),
        ({"StorageCapacity": 3600}, {"DeploymentType": "SCRATCH_1"}),
    ],
)
def test_a_file_system_that_fsx_offers_is_made(world: World, request_part: Part, lustre: Part) -> None:
    assert world.file_system(world.create(LustreConfiguration=lustre, **request_part))["Lifecycle"] in ("CREATING", "AVAILABLE")


def test_a_request_that_does_not_fit_the_model_names_the_field_and_the_bound(world: World) -> None:
    raw = world.client("fsx")
    raw.meta.events.register("before-call.fsx.CreateFileSystem", _with_throughput_2000)
    with pytest.raises(ClientError, match=r"Value '2000' at 'lustreConfiguration\.perUnitStorageThroughput' failed to satisfy"):
        raw.create_file_system(**world.request())


def _with_throughput_2000(params: dict[str, Any], **_: object) -> None:
    params["body"] = params["body"].replace(b"250", b"2000")
