"""An embedded AWS with a bootstrapped region, and a checkout of a user's."""

from pathlib import Path

import pytest

from local_aws.clock import clock
from local_aws.environment import aws_environment
from local_aws.server import ACCOUNT, EmbeddedAws
from local_aws.testing import REGION
from tests.local.walk.workspace import Workspace

SPEED = 120.0  # ours, CDK's and Node's code runs in real time: much faster, and deadlines pass while programs start


@pytest.fixture
def workspace(fresh_aws: EmbeddedAws, tmp_path: Path) -> Workspace:
    """A checkout whose `cdk` talks to the emptied, bootstrapped embedded AWS."""
    clock.set_speed(SPEED)
    home, folder = tmp_path / "home", tmp_path / "checkout"
    home.mkdir()
    workspace = Workspace(folder, aws_environment(fresh_aws.endpoint, REGION, home))
    workspace.run("cdk", "bootstrap", f"aws://{ACCOUNT}/{REGION}", folder=home)
    return workspace
