"""New subnets replace a cluster, and the node role can still remove interfaces in the old ones."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from cluster_request.request import merged
from local_aws.testing import Client, aws, client, fresh_aws
from tests.cluster_files import REFERENCE
from tests.privilege.deployment import Deployment

__all__ = ["aws", "client", "fresh_aws"]

pytestmark = [pytest.mark.local, pytest.mark.long]


def network(ec2: Any) -> tuple[dict[str, Any], list[str]]:
    """Create a network; return its fields for the file and two subnets."""
    vpc = ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
    zone = {"AvailabilityZone": "us-west-2a"}
    subnets = [ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.1.{n}.0/24", **zone)["Subnet"]["SubnetId"] for n in (0, 1)]
    group = ec2.create_security_group(VpcId=vpc, GroupName="cluster", Description="cluster")["GroupId"]
    itself = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=itself)
    ec2.authorize_security_group_egress(GroupId=group, IpPermissions=itself)
    return {"vpc_id": vpc, "security_group_id": group}, subnets


def test_the_interfaces_of_a_replaced_cluster_are_removed_from_its_subnets(client: Client, tmp_path: Path) -> None:
    existing, (old, new) = network(client("ec2"))
    folder = tmp_path / "clusters"
    folder.mkdir()

    def write(subnet: str) -> None:
        place = {"existing": {**existing, "node_subnet_ids": [subnet]}}
        changes = {"storage": {"lustre": None, "data_repository_associations": []}, "network": place}
        file = merged(yaml.safe_load(REFERENCE.read_text()), changes)
        (folder / "reference.yaml").write_text(yaml.safe_dump(file, sort_keys=False))

    def taken() -> set[str]:
        return {each["SubnetId"] for each in client("ec2").describe_network_interfaces()["NetworkInterfaces"]}

    write(old)
    deployment = Deployment(client, folder, tmp_path / "before")
    [before] = client("sagemaker").list_clusters()["ClusterSummaries"]
    assert taken() == {old}
    write(new)
    deployment.update(folder, tmp_path / "after")
    [after] = client("sagemaker").list_clusters()["ClusterSummaries"]
    assert after["ClusterName"] != before["ClusterName"]
    assert taken() == {new}
    [role] = [each["RoleName"] for each in client("iam").list_roles()["Roles"] if "NodeRole" in each["RoleName"]]
    names = client("iam").list_role_policies(RoleName=role)["PolicyNames"]
    assert len(names) == 2, "the policy of the old subnets is deleted after the old cluster"
