"""A Lustre file system in a stack: made, changed, replaced, and deleted with what it holds."""

from typing import Any

import pytest

from tests.simulator.cloudformation.conftest import World, parameter
from tests.simulator.machinery.account import until

pytestmark = pytest.mark.local


def _resources(lustre: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    itself = {"Fn::GetAtt": ["Group", "GroupId"]}
    rule = {"GroupId": itself, "IpProtocol": "-1"}
    events = {"Events": ["NEW", "CHANGED", "DELETED"]}
    configuration = {"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250, "DataCompressionType": "LZ4"} | (
        lustre or {}
    )
    file_system = {
        "FileSystemType": "LUSTRE",
        "FileSystemTypeVersion": "2.15",
        "StorageCapacity": 1200,
        "SubnetIds": [{"Ref": "Subnet"}],
        "SecurityGroupIds": [itself],
        "LustreConfiguration": configuration,
        **changes,
    }
    link = {
        "FileSystemId": {"Ref": "Files"},
        "FileSystemPath": "/data",
        "DataRepositoryPath": {"Fn::Sub": "s3://${Bucket}"},
        "BatchImportMetaDataOnCreate": True,
        "S3": {"AutoImportPolicy": events, "AutoExportPolicy": events},
    }
    kinds: dict[str, tuple[str, dict[str, Any]]] = {
        "Vpc": ("EC2::VPC", {"CidrBlock": "10.0.0.0/16"}),
        "Subnet": ("EC2::Subnet", {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.0.0/24"}),
        "Group": ("EC2::SecurityGroup", {"VpcId": {"Ref": "Vpc"}, "GroupDescription": "lustre"}),
        "In": ("EC2::SecurityGroupIngress", {**rule, "SourceSecurityGroupId": itself}),
        "Out": ("EC2::SecurityGroupEgress", {**rule, "DestinationSecurityGroupId": itself}),
        "Bucket": ("S3::Bucket", {}),
        "Files": ("FSx::FileSystem", file_system),
        "Link": ("FSx::DataRepositoryAssociation", link),
    }
    made = {name: {"Type": f"AWS::{kind}", "Properties": properties} for name, (kind, properties) in kinds.items()}
    made["Files"]["DependsOn"] = ["In", "Out"]
    made["MountName"] = parameter("mount", {"Fn::GetAtt": ["Files", "LustreMountName"]})
    made["Dns"] = parameter("dns", {"Fn::GetAtt": ["Files", "DNSName"]})
    return made


def _file_systems(world: World) -> list[dict[str, Any]]:
    return list(world.client("fsx").describe_file_systems()["FileSystems"])


def test_a_file_system_lives_in_a_stack(world: World) -> None:
    assert world.deploy(_resources()) == "CREATE_COMPLETE", world.failures()
    first = world.physical_id("Files")
    assert world.parameters()["/dns"] == f"{first}.fsx.us-west-2.amazonaws.com"

    tags = [{"Key": "k", "Value": "v"}]
    assert world.deploy(_resources({"DataCompressionType": "NONE"}, Tags=tags)) == "UPDATE_COMPLETE", world.failures()
    (found,) = _file_systems(world)
    assert (found["FileSystemId"], found["LustreConfiguration"]["DataCompressionType"]) == (first, "NONE")
    assert {"Key": "k", "Value": "v"} in found["Tags"]

    older = {"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 200}
    assert world.deploy(_resources(older)) == "UPDATE_COMPLETE", world.failures()
    (second,) = _file_systems(world)
    assert second["FileSystemId"] == world.physical_id("Files") != first
    assert world.parameters()["/dns"].startswith(second["FileSystemId"])

    assert world.delete() == "DELETE_COMPLETE"
    assert _file_systems(world) == []


def test_a_file_system_that_is_retained_holds_its_network(world: World) -> None:
    resources = _resources()
    resources["Files"]["DeletionPolicy"] = "Retain"
    world.deploy(resources)
    file_system = world.physical_id("Files")

    assert world.delete() == "DELETE_FAILED"
    assert {"Subnet", "Group", "Vpc"} <= world.resources()

    world.client("fsx").delete_file_system(FileSystemId=file_system)
    until(lambda: _file_systems(world) == [])
    assert world.delete() == "DELETE_COMPLETE"
