"""Functions in VPCs: what Lambda requires of them, and the network from which they call."""

import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest
from botocore.exceptions import ClientError

from local_aws import callers
from tests.simulator.machinery.account import EVERYTHING, Account

CALLING = """
from urllib.request import urlopen
def handler(event, context): return urlopen(event).read().decode()
"""
RIGHTS = ["ec2:CreateNetworkInterface", "ec2:DescribeNetworkInterfaces", "ec2:DeleteNetworkInterface"]


class Handler(BaseHTTPRequestHandler):
    """Answers with the address of the caller."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.client_address[0].encode())

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@pytest.fixture
def mirror() -> Iterator[str]:
    """The URL of a server that answers with the address of the caller."""
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def network(account: Account) -> dict[str, list[str]]:
    vpc = account.ec2.create_vpc(CidrBlock="10.3.0.0/16")["Vpc"]["VpcId"]
    subnet = account.ec2.create_subnet(VpcId=vpc, CidrBlock="10.3.0.0/24")["Subnet"]["SubnetId"]
    group = account.ec2.create_security_group(VpcId=vpc, GroupName="functions", Description="functions")["GroupId"]
    return {"SubnetIds": [subnet], "SecurityGroupIds": [group]}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address")
def test_a_function_calls_from_its_own_network(account: Account, mirror: str) -> None:
    config = network(account)
    account.function("out", CALLING)
    account.function("in", CALLING, VpcConfig=config)
    assert callers.network_of(account.call("out", mirror)) == ()
    [place] = callers.network_of(account.call("in", mirror)) or ()
    assert (place.subnet_id, list(place.group_ids)) == (config["SubnetIds"][0], config["SecurityGroupIds"])
    assert callers.network_of("127.0.0.1") is None

    account.lambda_.update_function_configuration(FunctionName="in", VpcConfig={"SubnetIds": [], "SecurityGroupIds": []})
    assert callers.network_of(account.call("in", mirror)) == ()


@pytest.mark.parametrize("missing", RIGHTS)
def test_the_role_must_manage_the_network_interfaces(account: Account, missing: str) -> None:
    allowed = {**EVERYTHING, "Action": [right for right in RIGHTS if right != missing]}
    with pytest.raises(ClientError, match=f"does not have permissions to call {missing.removeprefix('ec2:')} on EC2"):
        account.function("f", CALLING, allowed, VpcConfig=network(account))
    assert account.lambda_.list_functions()["Functions"] == []


def test_the_subnets_must_exist(account: Account) -> None:
    config = {**network(account), "SubnetIds": ["subnet-0123456789abcdef0"]}
    with pytest.raises(ClientError, match="subnet-0123456789abcdef0 does not exist"):
        account.function("f", CALLING, VpcConfig=config)
