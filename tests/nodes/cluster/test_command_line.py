"""The embedded AWS in the background, with nodes that run: a shell on them, and nothing of them after its end."""

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from local_aws.credentials import Owner
from local_aws.nodes.registry import Registry
from tests.simulator.hyperpod.world import World, until

pytestmark = pytest.mark.local


class Background:
    """`python -m local_aws` with a home of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.environment = {**os.environ, "LOCAL_AWS_HOME": str(home)}

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "local_aws", *words]

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            self.command(*words), env=self.environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
        assert not done.stderr, done.stderr
        return done

    def start(self) -> World:
        """Start it, and create a cluster of one node that is in service."""
        self.run("up", "--nodes")
        state = json.loads((self.home / "state.json").read_text())
        world = World(self.run("status").stdout.split()[3].rstrip(","), owner=Owner(**state["owner"]))
        world.make()
        world.allow_all_but()
        assert world.in_service(world.group("workers"))["ClusterStatus"] == "InService"
        return world

    def hubs(self) -> list[str]:
        """The folders of the hubs that live."""
        return [one.folder for one in Registry().entries() if one.lives and Path(one.folder).is_relative_to(self.home)]


@pytest.fixture
def background(tmp_path: Path) -> Iterator[Background]:
    background = Background(tmp_path)
    yield background
    background.run("down")


def test_a_shell_on_a_node_and_nothing_left_after_down(background: Background) -> None:
    world = background.start()
    [node] = world.nodes()
    listed = background.run("nodes").stdout.splitlines()
    assert len(listed) == 2
    assert listed[1].split()[:2] == ["ml", "workers-1"]
    assert listed[1].endswith(node["InstanceId"])
    for name in ("workers-1", "ml", node["InstanceId"]):
        assert background.run("shell", name, "--", "cat", "/etc/hostname").stdout.startswith("ip-10-1-0-")
    assert background.run("shell", "ml", "--", "sh", "-c", "exit 7").returncode == 7
    assert "/dev/pts/" in on_a_terminal(background, "shell", "--", "tty")
    assert background.hubs()
    assert background.run("down").stdout == "the embedded AWS is stopped\n"
    assert not background.hubs()
    assert not (background.home / "nodes").exists()


def test_a_reset_ends_the_nodes(background: Background) -> None:
    background.start()
    assert background.run("reset").stdout == "the embedded AWS is now empty\n"
    assert not background.hubs()
    assert len(background.run("nodes").stdout.splitlines()) == 1


def test_a_killed_embedded_aws_takes_its_nodes_along_and_reset_clears_the_rest(background: Background) -> None:
    background.start()
    os.kill(int(background.run("status").stdout.partition("pid ")[2].split(",")[0]), signal.SIGKILL)
    until(background.hubs, lambda hubs: not hubs)
    background.run("up")  # and another may start
    background.run("down")
    assert not (background.home / "nodes").exists()


def on_a_terminal(background: Background, *words: str) -> str:
    """What a command prints on a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        background.command(*words), env=background.environment, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        said = b""
        try:
            while chunk := os.read(ours, 4096):
                said += chunk
        except OSError:  # the other end is closed: Linux tells it so
            pass
        process.wait()
    os.close(ours)
    return said.decode()
