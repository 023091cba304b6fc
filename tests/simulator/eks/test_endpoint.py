"""Who reaches the endpoint of a cluster: people, and functions by their network."""

from typing import Any

import pytest

from local_aws import callers
from local_aws.network_interfaces import Place
from tests.simulator.eks.world import ACCOUNT, REGION, World

PEOPLE = "127.0.0.1"
OUTSIDE = callers.address_of(())
BOTH = {"endpointPublicAccess": True, "endpointPrivateAccess": True}
PRIVATE = {"endpointPublicAccess": False, "endpointPrivateAccess": True}
PUBLIC = {"endpointPublicAccess": True, "endpointPrivateAccess": False}
RANGES = {**BOTH, "publicAccessCidrs": ["198.51.100.0/24"]}


def inside(world: World, subnet: str, *groups: str) -> str:
    """The address of a function in a subnet with these security groups."""
    return callers.address_of((Place(ACCOUNT, REGION, subnet, groups),))


def admitted(world: World, access: dict[str, Any], *addresses: str) -> list[bool]:
    """Who reaches a new cluster with this access."""
    world.create(resourcesVpcConfig=world.request()["resourcesVpcConfig"] | access)
    return [world.programs.planes[-1].admits(each) for each in addresses]


@pytest.fixture
def group(world: World) -> str:
    """The security group of nodes and control plane, whose members reach each other."""
    own = str(world.ids["group"])
    rule = {"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": own}]}
    ec2 = world.client("ec2")
    if not ec2.describe_security_groups(GroupIds=[own])["SecurityGroups"][0]["IpPermissions"]:
        ec2.authorize_security_group_ingress(GroupId=own, IpPermissions=[rule])
    return own


@pytest.mark.parametrize(
    ("access", "people", "outside"),
    [(BOTH, True, True), (PUBLIC, True, True), (RANGES, True, False), (PRIVATE, False, False)],
)
def test_public_access_is_for_people_and_for_functions_if_all_ranges_are_allowed(
    world: World, group: str, access: dict[str, Any], people: bool, outside: bool
) -> None:
    function = inside(world, world.ids["a"], group)
    assert admitted(world, access, PEOPLE, OUTSIDE, function) == [people, outside, True]


def test_the_security_groups_must_allow_https(world: World, group: str) -> None:
    ec2 = world.client("ec2")
    vpc = ec2.describe_subnets(SubnetIds=[world.ids["a"]])["Subnets"][0]["VpcId"]
    stranger = ec2.create_security_group(VpcId=vpc, GroupName="strangers", Description="no rules")["GroupId"]
    mute = ec2.create_security_group(VpcId=vpc, GroupName="mute", Description="no egress")["GroupId"]
    everywhere = [{"IpProtocol": "-1", "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]
    ec2.revoke_security_group_egress(GroupId=mute, IpPermissions=everywhere)
    subnet = world.ids["b"]
    found = admitted(
        world, PRIVATE, *(inside(world, subnet, *each) for each in ((group,), (stranger,), (stranger, group), (mute,)))
    )
    assert found == [True, False, True, False]
    ec2.authorize_security_group_ingress(
        GroupId=group,
        IpPermissions=[{"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "IpRanges": [{"CidrIp": "10.1.0.0/16"}]}],
    )
    admits = world.programs.planes[-1].admits
    assert [admits(inside(world, subnet, each)) for each in (stranger, mute)] == [True, False]


def test_another_vpc_is_the_internet(world: World) -> None:
    ec2 = world.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.9.0.0/24")["Subnet"]["SubnetId"]
    assert admitted(world, PRIVATE, inside(world, subnet)) == [False]


def test_a_changed_access_counts_at_once(world: World, group: str) -> None:
    assert admitted(world, BOTH, PEOPLE) == [True]
    world.eks.update_cluster_config(name="ml", resourcesVpcConfig={"endpointPublicAccess": False})
    world.until(world.cluster, "ACTIVE")
    admits = world.programs.planes[-1].admits
    assert [admits(PEOPLE), admits(inside(world, world.ids["a"], group))] == [False, True]
