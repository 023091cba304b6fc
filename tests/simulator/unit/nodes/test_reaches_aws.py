"""Which nodes reach AWS, by their subnet's routes, and the credentials that they find."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from moto.ec2.models import ec2_backends

from local_aws.iam import Session
from local_aws.nodes.agent.behaviour import Behaviour
from local_aws.nodes.agent.files import of_aws
from local_aws.nodes.agent.metadata import credentials
from local_aws.nodes.agent.vpc import reaches_aws

ACCOUNT, REGION = "555555555555", "us-west-2"


@dataclass
class Network:
    """A VPC with a subnet, in the embedded EC2's state."""

    def __post_init__(self) -> None:
        self.ec2: Any = ec2_backends[ACCOUNT][REGION]
        self.vpc = self.ec2.create_vpc("10.7.0.0/16")
        self.subnet = self.ec2.create_subnet(self.vpc.id, "10.7.0.0/24", availability_zone=f"{REGION}a")
        self.table = next(table for table in self.ec2.route_tables.values() if table.vpc_id == self.vpc.id)

    def reaches_aws(self) -> bool:
        node: Any = SimpleNamespace(interfaces=[SimpleNamespace(subnet_id=self.subnet.id)])
        cluster: Any = SimpleNamespace(account=ACCOUNT, region=REGION)
        return reaches_aws(cluster, node)

    def own_table(self) -> str:
        """Give the subnet a route table besides the VPC's main one."""
        table = self.ec2.create_route_table(self.vpc.id)
        self.ec2.associate_route_table(table.id, subnet_id=self.subnet.id)
        return str(table.id)

    def nat_gateway(self) -> str:
        return str(self.ec2.create_nat_gateway(self.subnet.id, None, connectivity_type="private").id)


@pytest.fixture
def network() -> Iterator[Network]:
    yield Network()
    ec2_backends[ACCOUNT][REGION].reset()


def test_a_nat_gateway_leads_to_aws(network: Network) -> None:
    assert not network.reaches_aws()
    network.ec2.create_route(network.table.id, "0.0.0.0/0", nat_gateway_id=network.nat_gateway())
    assert network.reaches_aws()
    network.own_table()  # has no default route
    assert not network.reaches_aws()


def test_an_internet_gateway_does_not_because_nodes_have_no_public_address(network: Network) -> None:
    gateway = network.ec2.create_internet_gateway()
    network.ec2.attach_internet_gateway(gateway.id, network.vpc.id)
    network.ec2.create_route(network.own_table(), "0.0.0.0/0", gateway_id=gateway.id)
    assert not network.reaches_aws()


def test_an_interface_endpoint_of_ssm_leads_to_aws(network: Network) -> None:
    service = f"com.amazonaws.{REGION}"
    network.ec2.create_vpc_endpoint(network.vpc.id, f"{service}.s3", "Gateway", None, [])
    assert not network.reaches_aws()
    subnets = [network.subnet.id]
    network.ec2.create_vpc_endpoint(network.vpc.id, f"{service}.ssm", "Interface", None, [], subnet_ids=subnets)
    assert network.reaches_aws()


def test_a_missing_subnet_leads_nowhere(network: Network) -> None:
    network.subnet.id = "subnet-0"
    assert not network.reaches_aws()


def test_the_credentials_are_the_role_session_s() -> None:
    role = f"arn:aws:iam::{ACCOUNT}:role/path/nodes"
    [(path, text)] = credentials(role, Session(ACCOUNT, role, "i-1", "ASIA", "secret", "token")).items()
    assert path == "latest/meta-data/iam/security-credentials/nodes"
    found = json.loads(text)
    assert (found["Code"], found["AccessKeyId"], found["SecretAccessKey"], found["Token"]) == (
        "Success",
        "ASIA",
        "secret",
        "token",
    )
    assert found["Expiration"] > found["LastUpdated"]


def test_the_agents_timer_is_shortened_only_on_request() -> None:
    assert [path.rpartition("/")[2] for path in of_aws(Behaviour())] == ["endpoint.conf"]
    timer = of_aws(Behaviour(follow_every_s=2))["/etc/systemd/system/hyperpod-follow.timer.d/simulation.conf"]
    assert b"OnUnitInactiveSec=2s\n" in timer.content
