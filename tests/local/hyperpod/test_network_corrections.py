"""What EC2 refuses while something is in use, where moto lets it pass."""

from collections.abc import Callable

import pytest
from botocore.exceptions import ClientError

from local_aws import durations
from local_aws.testing import ACCOUNT
from network_resource.foreign_resources import foreign_resources
from tests.simulator.hyperpod.world import World

pytestmark = pytest.mark.local


@pytest.fixture
def vpc(world: World) -> str:
    return str(world.ec2.create_vpc(CidrBlock="10.20.0.0/16")["Vpc"]["VpcId"])


def refused(action: Callable[[], object]) -> None:
    with pytest.raises(ClientError) as error:
        action()
    assert error.value.response["Error"]["Code"] == "DependencyViolation"


def test_a_nat_gateway_holds_its_subnet_and_address_until_it_is_deleted(world: World, vpc: str) -> None:
    """Until then, its interface is no resource of others, for which a destroy would fail."""
    durations.change({"ec2.nat.delete": 900})  # three seconds
    ec2 = world.ec2
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.20.0.0/24")["Subnet"]["SubnetId"]
    gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    address = ec2.allocate_address(Domain="vpc")["AllocationId"]
    nat = ec2.create_nat_gateway(SubnetId=subnet, AllocationId=address)["NatGateway"]["NatGatewayId"]
    refused(lambda: ec2.delete_subnet(SubnetId=subnet))
    refused(lambda: ec2.detach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc))
    ec2.delete_nat_gateway(NatGatewayId=nat)
    assert [each.sentence for each in foreign_resources(ec2, vpc, "ml")] == [f"subnet {subnet} of account {ACCOUNT} is in {vpc}"]
    refused(lambda: ec2.delete_subnet(SubnetId=subnet))
    world.until(lambda: ec2.describe_nat_gateways(NatGatewayIds=[nat])["NatGateways"][0]["State"], "deleted".__eq__)
    assert "AssociationId" not in ec2.describe_addresses(AllocationIds=[address])["Addresses"][0]
    ec2.delete_subnet(SubnetId=subnet)
    refused(lambda: ec2.delete_vpc(VpcId=vpc))
    ec2.detach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    ec2.delete_vpc(VpcId=vpc)


def test_a_group_that_anothers_rule_names_cannot_be_deleted(world: World, vpc: str) -> None:
    ec2 = world.ec2
    one, other = (ec2.create_security_group(VpcId=vpc, GroupName=n, Description=n)["GroupId"] for n in ("one", "other"))
    rule = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": one}]}]
    ec2.authorize_security_group_ingress(GroupId=other, IpPermissions=rule)
    refused(lambda: ec2.delete_security_group(GroupId=one))
    ec2.delete_security_group(GroupId=other)
    ec2.delete_security_group(GroupId=one)


def test_a_group_may_name_itself_and_still_be_deleted(world: World, vpc: str) -> None:
    group = world.ec2.create_security_group(VpcId=vpc, GroupName="self", Description="self")["GroupId"]
    rule = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]
    world.ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=rule)
    world.ec2.delete_security_group(GroupId=group)


def test_a_vpc_with_a_group_or_an_endpoint_cannot_be_deleted(world: World, vpc: str) -> None:
    ec2 = world.ec2
    group = ec2.create_security_group(VpcId=vpc, GroupName="left", Description="left")["GroupId"]
    refused(lambda: ec2.delete_vpc(VpcId=vpc))
    ec2.delete_security_group(GroupId=group)
    routes = ec2.describe_route_tables(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["RouteTables"][0]["RouteTableId"]
    request = {"VpcId": vpc, "ServiceName": "com.amazonaws.us-west-2.s3", "RouteTableIds": [routes], "VpcEndpointType": "Gateway"}
    endpoint = ec2.create_vpc_endpoint(**request)["VpcEndpoint"]["VpcEndpointId"]
    refused(lambda: ec2.delete_vpc(VpcId=vpc))
    ec2.delete_vpc_endpoints(VpcEndpointIds=[endpoint])
    ec2.delete_vpc(VpcId=vpc)


def test_a_services_interface_cannot_be_deleted_by_others(world: World) -> None:
    world.in_service(world.group("a"))
    interface = world.interfaces()[0]
    assert (interface["Status"], interface["RequesterManaged"]) == ("in-use", True)
    with pytest.raises(ClientError, match="is currently in use"):
        world.ec2.delete_network_interface(NetworkInterfaceId=interface["NetworkInterfaceId"])
