"""What a user of a node can do with the nodes' role: by EC2's API, to the interfaces of one subnet only."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.simulator.machinery.account import Account, arn

pytestmark = pytest.mark.local


@pytest.fixture
def subnets(account: Account) -> list[str]:
    """Two subnets of one VPC."""
    vpc = account.ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
    return [account.ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.1.{n}.0/24")["Subnet"]["SubnetId"] for n in (0, 1)]


def manage(subnet: str) -> dict[str, Any]:
    """The statement of the node role's policy."""
    actions = ["ec2:CreateNetworkInterfacePermission", "ec2:DeleteNetworkInterface", "ec2:DetachNetworkInterface"]
    only = {
        "ArnEquals": {"ec2:Subnet": [f"arn:aws:ec2:us-west-2:*:subnet/{subnet}"]},
        "Null": {"aws:ResourceTag/AmazonFSx.FileSystemId": "true"},
    }
    return {"Effect": "Allow", "Action": actions, "Resource": arn("ec2", "network-interface/*"), "Condition": only}


def default_group(account: Account, subnet: str) -> str:
    """Return the default security group of the subnet's VPC."""
    vpc = account.ec2.describe_subnets(SubnetIds=[subnet])["Subnets"][0]["VpcId"]
    groups = account.ec2.describe_security_groups(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["SecurityGroups"]
    return str(groups[0]["GroupId"])


def interface(account: Account, subnet: str) -> str:
    return str(account.ec2.create_network_interface(SubnetId=subnet)["NetworkInterface"]["NetworkInterfaceId"])


def test_interfaces_are_deleted_in_the_roles_subnet_and_refused_elsewhere(account: Account, subnets: list[str]) -> None:
    role = account.role("nodes", manage(subnets[0]))
    own, other = (interface(account, subnet) for subnet in subnets)
    ec2 = account.as_role(role, "ec2")
    with pytest.raises(ClientError, match=f"ec2:DeleteNetworkInterface on resource: .*:network-interface/{other} because no"):
        ec2.delete_network_interface(NetworkInterfaceId=other)
    ec2.delete_network_interface(NetworkInterfaceId=own)
    left = account.ec2.describe_network_interfaces()["NetworkInterfaces"]
    assert [each["NetworkInterfaceId"] for each in left] == [other]


def test_the_interfaces_of_a_file_system_in_the_subnet_are_refused(account: Account, subnets: list[str]) -> None:
    ec2 = account.as_role(account.role("nodes", manage(subnets[0])), "ec2")
    rules = [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "10.1.0.0/16"}]}]
    account.ec2.authorize_security_group_ingress(GroupId=(group := default_group(account, subnets[0])), IpPermissions=rules)
    account.fsx.create_file_system(
        FileSystemType="LUSTRE",
        StorageCapacity=1200,
        SubnetIds=subnets[:1],
        SecurityGroupIds=[group],
        LustreConfiguration={"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125},
    )
    for each in account.ec2.describe_network_interfaces()["NetworkInterfaces"]:
        with pytest.raises(ClientError, match="ec2:DeleteNetworkInterface on resource"):
            ec2.delete_network_interface(NetworkInterfaceId=each["NetworkInterfaceId"])


def test_an_interface_elsewhere_is_not_detached_though_the_role_may_detach_from_any_instance(
    account: Account, subnets: list[str]
) -> None:
    instances = {"Effect": "Allow", "Action": "ec2:DetachNetworkInterface", "Resource": "arn:aws:ec2:us-west-2:*:instance/*"}
    role = account.role("nodes", manage(subnets[0]), instances)
    image = account.ec2.describe_images()["Images"][0]["ImageId"]
    made = account.ec2.run_instances(ImageId=image, MinCount=1, MaxCount=1, SubnetId=subnets[1])["Instances"][0]
    attached = {"InstanceId": made["InstanceId"], "DeviceIndex": 1}
    attachment = account.ec2.attach_network_interface(NetworkInterfaceId=interface(account, subnets[1]), **attached)
    ec2 = account.as_role(role, "ec2")
    with pytest.raises(ClientError, match=r"ec2:DetachNetworkInterface on resource: .*:network-interface/eni-"):
        ec2.detach_network_interface(AttachmentId=attachment["AttachmentId"])
    account.allow("nodes", manage(subnets[1]), instances)
    ec2.detach_network_interface(AttachmentId=attachment["AttachmentId"])
