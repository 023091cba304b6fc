"""A cluster with nodes, as a user with the AWS CLI, the plugin and OpenSSH sees it."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from local_aws.credentials import OWNER
from local_aws.environment import PROJECT, aws_environment
from local_aws.nodes.runner import SimulatedNodes
from local_aws.server import EmbeddedAws
from local_aws.testing import REGION, aws, nodes
from tests.aws_cli import aws_cli
from tests.nodes.cluster.conftest import KIND, ON_CREATE, PARAMETERS, ROLES
from tests.nodes.cluster.operated import FILE, STACK
from tests.nodes.cluster.running import Running
from tests.simulator.hyperpod.world import World

__all__ = ["aws", "nodes"]

USER = "alice"
ADD_USER = """\
useradd --create-home --shell /bin/bash alice
install -d -o alice -g alice -m 700 /home/alice/.ssh
install -o alice -g alice -m 600 alice.pub /home/alice/.ssh/authorized_keys
"""


@dataclass
class Operator:
    """A user at a terminal, in a folder with the file of the cluster ml."""

    home: Path
    environment: dict[str, str]
    cluster: Running

    @property
    def login(self) -> tuple[str, ...]:
        """The options of the user; ssh looks for keys in the home of the process's real user."""
        return "--user", USER, "--identity", str(self.home / ".ssh" / "id_ed25519")

    def run(self, *words: str, status: int = 0) -> str:
        """What a program prints; it must end with this status."""
        done = subprocess.run(
            words, cwd=self.home, env=self.environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
        assert done.returncode == status, (words, done.stdout, done.stderr)
        return done.stdout

    def hpod(self, *words: str, status: int = 0) -> str:
        """What `hpod` prints."""
        return self.run(sys.executable, "-m", "cli", *words, status=status)


@pytest.fixture(scope="module")
def operator(aws: EmbeddedAws, nodes: SimulatedNodes, tmp_path_factory: pytest.TempPathFactory) -> Operator:
    """A user whose key is on the nodes."""
    home = tmp_path_factory.mktemp("home")
    (home / ".ssh").mkdir(mode=0o700)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", home / ".ssh" / "id_ed25519"], check=True)
    cluster = _cluster(World(aws.endpoint), nodes, (home / ".ssh" / "id_ed25519.pub").read_text())
    (home / "clusters").mkdir()
    (home / "clusters" / "ml.yaml").write_text(FILE)
    environment = aws_environment(aws.endpoint, REGION, home, OWNER)
    programs = f"{aws_cli()}{os.pathsep}{environment['PATH']}"
    environment |= {"HOME": str(home), "PYTHONPATH": str(PROJECT), "PATH": programs}
    return Operator(home, environment, cluster)


def _cluster(world: World, nodes: SimulatedNodes, key: str) -> Running:
    """A cluster of a controller, a login node and two workers, with a stack that names it."""
    nodes.behaviour = KIND
    world.make()
    world.put_script("on_create.sh", ON_CREATE + ADD_USER)
    world.put_script("roles.sh", ROLES)
    world.put_script("alice.pub", key)
    world.put_script("provisioning_parameters.json", json.dumps(PARAMETERS))
    world.allow_all_but()
    world.allow("ssmmessages:*", name="sessions")
    world.client("cloudformation").create_stack(StackName="ml-Cluster", TemplateBody=json.dumps(STACK))
    running = Running(world, nodes)
    running.create()
    return running
