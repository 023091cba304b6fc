"""One embedded AWS for all faults: an account with a network, a bootstrapped region, and the cluster synthesized."""

import subprocess
from collections.abc import Iterator

import pytest

from local_aws import server
from local_aws.credentials import OWNER
from local_aws.environment import aws_environment
from local_aws.server import ACCOUNT, EmbeddedAws
from local_aws.testing import REGION, clients_of
from tests.local.other_network import make_other_network
from tests.whole_stack.assemblies import synthesize
from tests.whole_stack.world import World

SPEED = 300.0
"""CloudFormation's hour is 12 seconds: more than a busy machine needs for what is no function's work."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The account, ready to deploy the cluster."""
    folder = tmp_path_factory.mktemp("whole-stack")
    home = folder / "home"
    home.mkdir()
    with EmbeddedAws(speed=SPEED) as aws:
        server.reset()
        client = clients_of(aws)
        environment = aws_environment(aws.endpoint, REGION, home, OWNER)
        bootstrap = ("cdk", "bootstrap", f"aws://{ACCOUNT}/{REGION}")
        subprocess.run(bootstrap, env=environment, cwd=home, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        yield World(synthesize(folder / "assemblies", make_other_network(client)), environment, client)
        server.reset()
