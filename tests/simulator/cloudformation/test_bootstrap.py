"""The real command line's bootstrap."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from local_aws import server
from local_aws.credentials import OWNER
from local_aws.environment import aws_environment
from tests.simulator.cloudformation.conftest import REGION, World

pytestmark = [pytest.mark.local, pytest.mark.cdk]


@pytest.fixture
def whole_world(world: World) -> Iterator[World]:
    """An account that is emptied altogether afterwards: a bootstrap makes things of many kinds, and retains some."""
    yield world
    server.reset()


def test_the_command_line_bootstraps_the_account_and_does_so_again(whole_world: World, tmp_path: Path) -> None:
    world = whole_world

    def bootstrap() -> str:
        command = ["cdk", "bootstrap", f"aws://123456789012/{REGION}", "--no-notices"]
        environment = aws_environment(world.endpoint, REGION, tmp_path, OWNER)
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    assert "bootstrapped." in bootstrap()

    assert int(world.outputs("CDKToolkit")["BootstrapVersion"]) >= 30
    assert world.ssm.get_parameter(Name="/cdk-bootstrap/hnb659fds/version")["Parameter"]["Value"].isdigit()
    assert "(no changes)" in bootstrap()
