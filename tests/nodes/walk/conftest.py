"""A user's checkout whose `cdk` talks to an embedded AWS with nodes that run."""

import pytest

from local_aws.clock import clock
from local_aws.credentials import OWNER
from local_aws.environment import aws_environment
from local_aws.nodes.agent.behaviour import Behaviour
from local_aws.nodes.runner import SimulatedNodes
from local_aws.server import ACCOUNT, EmbeddedAws
from local_aws.testing import REGION, Client, aws, clients_of, nodes
from tests.local.walk.workspace import Workspace

__all__ = ["aws", "nodes"]

SPEED = 300.0
FOLLOW_EVERY_S = 4.0


@pytest.fixture(scope="module")
def workspace(aws: EmbeddedAws, nodes: SimulatedNodes, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A checkout in the region of the reference cluster, bootstrapped."""
    clock.set_speed(SPEED)
    clock.skip(3 * 86400)  # as in a demo that has run for a quarter of an hour
    nodes.behaviour = Behaviour(follow_every_s=FOLLOW_EVERY_S)
    folder = tmp_path_factory.mktemp("walk")
    home = folder / "home"
    home.mkdir()
    workspace = Workspace(folder / "checkout", aws_environment(aws.endpoint, REGION, home, OWNER))
    workspace.run("cdk", "bootstrap", f"aws://{ACCOUNT}/{REGION}", folder=home)
    return workspace


@pytest.fixture
def client(aws: EmbeddedAws) -> Client:
    """Make a boto3 client of the account as it is: `client("s3")`."""
    return clients_of(aws)
