"""A cluster for which everything else is there already: stacks that make nothing, and a destroy that touches nothing."""

from dataclasses import dataclass
from typing import Any

import pytest
import yaml

from local_aws.testing import Client
from tests.local.walk.conftest import WorkspaceIn
from tests.local.walk.leftovers import leftovers
from tests.local.walk.workspace import Workspace

pytestmark = [pytest.mark.cdk, pytest.mark.local]

REGION, ZONE_ID = "us-west-2", "usw2-az4"


@dataclass(frozen=True)
class Existing:
    """What another team made."""

    vpc: str
    subnet: str
    group: str
    file_system: dict[str, Any]
    bucket: str


def test_a_cluster_on_imported_parts_alone_comes_up_and_its_destroy_leaves_them_as_they_were(
    workspace_in: WorkspaceIn, client: Client
) -> None:
    workspace = workspace_in(REGION)
    existing = _make(client)
    _describe(workspace, existing)
    before = leftovers(client)

    workspace.deploy()

    sagemaker = client("sagemaker")
    [cluster] = sagemaker.list_clusters()["ClusterSummaries"]
    described = sagemaker.describe_cluster(ClusterName=cluster["ClusterName"])
    assert described["ClusterStatus"] == "InService"
    assert described["VpcConfig"] == {"SecurityGroupIds": [existing.group], "Subnets": [existing.subnet]}
    cloudformation = client("cloudformation")
    made = {
        stack: [each["ResourceType"] for each in cloudformation.describe_stack_resources(StackName=stack)["StackResources"]]
        for stack in ("reference-Network", "reference-Storage")
    }
    assert made == {
        "reference-Network": ["AWS::CloudFormation::WaitConditionHandle"],
        "reference-Storage": ["AWS::CloudFormation::WaitConditionHandle"],
    }

    workspace.destroy()
    after = leftovers(client)
    assert all(name.startswith("/aws/sagemaker/Clusters/") for name in after.pop("log group"))
    assert after == before


def _make(client: Client) -> Existing:
    ec2 = client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/17", AvailabilityZoneId=ZONE_ID)["Subnet"]["SubnetId"]
    group = ec2.create_security_group(GroupName="nodes", Description="nodes", VpcId=vpc)["GroupId"]
    everything = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=everything)
    ec2.authorize_security_group_egress(GroupId=group, IpPermissions=everything)
    client("s3").create_bucket(Bucket="datasets", CreateBucketConfiguration={"LocationConstraint": REGION})
    file_system = client("fsx").create_file_system(
        FileSystemType="LUSTRE",
        FileSystemTypeVersion="2.15",
        StorageCapacity=1200,
        SubnetIds=[subnet],
        SecurityGroupIds=[group],
        LustreConfiguration={"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 250},
    )["FileSystem"]
    return Existing(vpc, subnet, group, file_system, "datasets")


def _describe(workspace: Workspace, existing: Existing) -> None:
    path = workspace.folder / "clusters" / "reference.yaml"
    file = yaml.safe_load(path.read_text())
    file["network"]["existing"] = {
        "vpc_id": existing.vpc,
        "node_subnet_ids": [existing.subnet],
        "security_group_id": existing.group,
    }
    file["storage"] = {
        "existing": {
            "file_system_id": existing.file_system["FileSystemId"],
            "mount_name": existing.file_system["LustreConfiguration"]["MountName"],
        },
        "data_bucket": {"existing": existing.bucket},
    }
    path.write_text(yaml.safe_dump(file, sort_keys=False))
