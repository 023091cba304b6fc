"""An account with all that a cluster needs: a VPC, an execution role, scripts in a bucket."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from local_aws import eks, faults, hyperpod, iam, testing
from local_aws.eks import control_planes
from local_aws.server import EmbeddedAws
from tests.simulator.hyperpod.eks_world import EksSite
from tests.simulator.hyperpod.world import Caller, World

SPEED = 3000.0  # ten of AWS's minutes in a fifth of a second


@pytest.fixture(scope="module")
def account(aws: EmbeddedAws) -> Iterator[World]:
    """The account, emptied once, with what every cluster needs in it."""
    with testing.emptied(SPEED):
        world = World(aws.endpoint)
        world.make()
        yield world


@pytest.fixture
def world(account: World) -> Iterator[World]:
    """The account without clusters."""
    account.allow_all_but()
    yield account
    hyperpod.reset()
    faults.reset()


@pytest.fixture
def site(world: World) -> Iterator[EksSite]:
    """The account with the EKS cluster `ml`."""
    site = EksSite(world)
    site.use_fakes()
    site.make()
    site.create()
    site.install()
    yield site
    hyperpod.reset()
    eks.reset()
    control_planes.use(control_planes.REAL)


@pytest.fixture
def caller(world: World) -> Iterator[Caller]:
    """Take on a role with these statements; a SageMaker client that acts as it."""
    client = world.client("iam")
    trust = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
    role = client.create_role(RoleName="caller", AssumeRolePolicyDocument=document)["Role"]["Arn"]

    def act_with(*statements: dict[str, Any]) -> Any:
        policy = json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", **each} for each in statements]})
        client.put_role_policy(RoleName="caller", PolicyName="p", PolicyDocument=policy)
        return world.client("sagemaker", session=iam.assume("123456789012", role, "lambda.amazonaws.com", "test"))

    yield act_with
    for name in client.list_role_policies(RoleName="caller")["PolicyNames"]:
        client.delete_role_policy(RoleName="caller", PolicyName=name)
    client.delete_role(RoleName="caller")
