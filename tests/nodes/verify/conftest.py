"""The environment of `make verify-aws` against an embedded AWS with nodes, and with a stand-in for the Session Manager plugin."""

import subprocess

import pytest

from local_aws.clock import clock
from local_aws.credentials import OWNER
from local_aws.environment import aws_environment
from local_aws.nodes.agent.behaviour import Behaviour
from local_aws.nodes.runner import SimulatedNodes
from local_aws.server import ACCOUNT, EmbeddedAws
from local_aws.testing import REGION, aws, nodes

__all__ = ["aws", "nodes"]

SPEED = 300.0
FOLLOW_S = 2


@pytest.fixture(scope="module")
def environment(aws: EmbeddedAws, nodes: SimulatedNodes, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a user with the plugin, in a bootstrapped account."""
    clock.set_speed(SPEED)
    nodes.behaviour = Behaviour(follow_every_s=FOLLOW_S)
    home = tmp_path_factory.mktemp("home")
    environment = aws_environment(aws.endpoint, REGION, home, OWNER)
    subprocess.run(["cdk", "bootstrap", f"aws://{ACCOUNT}/{REGION}"], cwd=home, env=environment, check=True)
    return environment
