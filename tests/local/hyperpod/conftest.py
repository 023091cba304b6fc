"""An account with all that a cluster needs: a VPC, an execution role, scripts in a bucket."""

import json
from collections.abc import Iterator

import pytest

from local_aws import durations, faults, hyperpod, server, testing
from local_aws.clock import clock
from local_aws.server import EmbeddedAws
from tests.local.hyperpod.world import REGION, Hold, World

SPEED = 3000.0  # ten of AWS's minutes in a fifth of a second


@pytest.fixture(scope="module")
def account(aws: EmbeddedAws) -> Iterator[World]:
    """The account, emptied once, with what every cluster needs in it."""
    server.reset()
    clock.set_speed(SPEED)
    world = World(aws.endpoint)
    _make_network(world)
    trust = {"Effect": "Allow", "Principal": {"Service": "sagemaker.amazonaws.com"}, "Action": "sts:AssumeRole"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    role = world.client("iam").create_role(RoleName="nodes", AssumeRolePolicyDocument=document)["Role"]
    world.ids["role"] = role["Arn"]
    s3 = world.client("s3")
    s3.create_bucket(Bucket="sagemaker-scripts", CreateBucketConfiguration={"LocationConstraint": REGION})
    s3.put_object(Bucket="sagemaker-scripts", Key="lifecycle/1/on_create.sh", Body=b"#!/bin/bash\n")
    yield world
    server.reset()
    clock.set_speed(testing.SPEED)


def _make_network(world: World) -> None:
    ec2 = world.ec2
    vpc = ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.1.0.0/24", AvailabilityZone=f"{REGION}a")["Subnet"]["SubnetId"]
    group = ec2.create_security_group(VpcId=vpc, GroupName="cluster", Description="cluster")["GroupId"]
    itself = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=itself)
    ec2.authorize_security_group_egress(GroupId=group, IpPermissions=itself)
    world.ids |= {"vpc": vpc, "subnet": subnet, "security_group": group}


@pytest.fixture
def world(account: World) -> Iterator[World]:
    """The account without clusters."""
    account.allow_all_but()
    yield account
    hyperpod.reset()
    faults.reset()


@pytest.fixture
def hold() -> Hold:
    """Let something on AWS take so long that the test can look at what is before it."""

    def hold(name: str) -> None:
        durations.change({name: 1e9})

    return hold
