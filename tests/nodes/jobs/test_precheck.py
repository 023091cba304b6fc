"""`hyperpod-precheck --all` as a user of the cluster runs it."""

import re
from collections.abc import Iterator

import pytest

from tests.nodes.cluster.running import Running
from tests.nodes.jobs.submitted import Cluster

pytestmark = pytest.mark.local

ALL = "hyperpod-precheck --all; echo status $?"


def row(said: str, running: Running, name: str) -> str:
    """What is said of a node, after its name."""
    host = running.machine(name)["host"]
    [found] = re.findall(rf"^{re.escape(host)} +(\S.*)$", said, re.MULTILINE)
    return str(found)


def test_a_healthy_cluster_passes_or_skips_every_check(cluster: Cluster) -> None:
    said = cluster.as_alice(ALL)

    for name in ("workers-1", "workers-2"):
        cells = row(said, cluster.running, name).split()
        assert cells[:3] == ["PASS"] * 3  # slurmd, /fsx, homes
        assert set(cells) == {"PASS", "SKIP"}
    assert said.endswith("\nstatus 0")


@pytest.fixture
def stopped(cluster: Cluster) -> Iterator[str]:
    """A worker whose slurmd is stopped until the test ends."""
    running, name = cluster.running, "workers-2"
    running.run(name, "systemctl", "stop", "slurmd")
    yield name
    running.run(name, "systemctl", "restart", "slurmd")
    running.idle(2)


def test_a_node_whose_slurmd_is_stopped_is_named_with_its_remedy_and_the_others_answer(cluster: Cluster, stopped: str) -> None:
    running = cluster.running

    said = cluster.as_alice(ALL)  # before Slurm notices, or after

    assert "FAIL" not in row(said, running, "workers-1")
    assert row(said, running, stopped).startswith("no answer: ")
    remedy = said.partition(f"\nno answer from {running.machine(stopped)['host']}\n  -> ")[2]
    assert "sudo systemctl restart slurmd" in remedy
    assert said.endswith("\nstatus 1")
