"""An embedded AWS with a bootstrapped region, and a checkout of a user's."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from local_aws.clock import clock
from local_aws.credentials import OWNER
from local_aws.environment import aws_environment
from local_aws.server import ACCOUNT, EmbeddedAws
from local_aws.testing import REGION
from tests.local.walk.workspace import Workspace

SPEED = 120.0

WorkspaceIn: TypeAlias = Callable[[str], Workspace]


@pytest.fixture
def workspace_in(fresh_aws: EmbeddedAws, tmp_path: Path) -> WorkspaceIn:
    """Make a checkout whose `cdk` talks to the emptied embedded AWS, with the given region bootstrapped."""
    clock.set_speed(SPEED)

    return lambda region: bootstrapped(fresh_aws, tmp_path, region)


def bootstrapped(aws: EmbeddedAws, folder: Path, region: str) -> Workspace:
    """Bootstrap the region, and make a checkout in the folder."""
    home = folder / "home"
    home.mkdir()
    workspace = Workspace(folder / "checkout", aws_environment(aws.endpoint, region, home, OWNER))
    workspace.run("cdk", "bootstrap", f"aws://{ACCOUNT}/{region}", folder=home)
    return workspace


@pytest.fixture
def workspace(workspace_in: WorkspaceIn) -> Workspace:
    """A checkout for the region of the reference cluster."""
    return workspace_in(REGION)
