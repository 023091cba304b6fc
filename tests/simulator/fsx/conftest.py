"""An account with a VPC that Lustre can live in, and a bucket."""

from collections.abc import Iterator

import pytest

from local_aws import durations, faults, fsx, testing
from local_aws.server import EmbeddedAws
from tests.simulator.fsx.world import REGION, World

SPEED = 3000.0  # seven of AWS's minutes in a seventh of a second


@pytest.fixture(scope="module")
def account(aws: EmbeddedAws) -> Iterator[World]:
    """The account, emptied once, with what every file system needs in it."""
    with testing.emptied(SPEED):
        world = World(aws.endpoint)
        vpc = world.ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
        subnet = world.ec2.create_subnet(VpcId=vpc, CidrBlock="10.1.0.0/24")["Subnet"]["SubnetId"]
        group = world.ec2.create_security_group(VpcId=vpc, GroupName="lustre", Description="lustre")["GroupId"]
        for first, last in ((988, 988), (1018, 1023)):
            rule = {"IpProtocol": "tcp", "FromPort": first, "ToPort": last, "UserIdGroupPairs": [{"GroupId": group}]}
            world.ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=[rule])
        s3 = world.client("s3")
        s3.create_bucket(Bucket="data", CreateBucketConfiguration={"LocationConstraint": REGION})
        world.ids |= {"vpc": vpc, "subnet": subnet, "security_group": group}
        yield world


@pytest.fixture
def world(account: World) -> Iterator[World]:
    """The account without file systems."""
    yield account
    fsx.reset()
    durations.reset()
    faults.reset()
