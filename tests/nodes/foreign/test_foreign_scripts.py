"""Lifecycle scripts in the style of AWS's base scripts, in place of this project's, under the agent's worst behaviour."""

from pathlib import Path

import pytest

from local_aws.nodes.agent.behaviour import Behaviour
from local_aws.nodes.runner import SimulatedNodes
from local_aws.server import EmbeddedAws
from local_aws.testing import aws, nodes
from tests.nodes.bundle import Bundle, lay, make_file_system
from tests.nodes.cluster.running import Running
from tests.simulator.hyperpod.world import World

__all__ = ["aws", "nodes"]

pytestmark = pytest.mark.local

SCRIPTS = Path(__file__).parents[2] / "data" / "foreign-scripts"
# The placeholder stays longer than it takes the scripts to get there. They leave slurm.conf as the agent writes it, and start
# nothing on a login node: a topology without its file or login nodes in slurm.conf would stop them.
AGENT = Behaviour(placeholder_s=8, automatic_topology="none", login_nodes="absent")
AS_CAROL = ("runuser", "--login", "carol", "--command")


@pytest.fixture(scope="module")
def cluster(aws: EmbeddedAws, nodes: SimulatedNodes) -> Running:
    """A controller, a login node and a worker, with a group that has no nodes yet."""
    world = World(aws.endpoint)
    world.make()
    world.allow_all_but()
    groups = [{"instance_group_name": name, "partition_name": name} for name in ("workers", "later")]
    bundle = Bundle({**make_file_system(world), "worker_groups": groups}, source=SCRIPTS)
    counts = {"controller": 1, "login": 1, "workers": 1, "later": 0}
    running = Running(world, nodes, counts, scripts=lay(world, bundle))
    nodes.behaviour = AGENT
    running.create()
    seen = running.settle()
    assert seen["ClusterStatus"] == "InService", seen["FailureMessage"]
    return running


def test_the_scripts_met_what_stops_others(cluster: Running) -> None:
    log = cluster.log_of("controller-1")
    assert "waiting for another installation" in log
    assert any("does not name ['10.1." in line for line in log)
    assert '"Instances": null' in cluster.run("controller-1", "cat", "/opt/ml/config/resource_config.json")


def test_a_worker_that_joins_runs_jobs_in_the_same_homes(cluster: Running) -> None:
    cluster.idle(1)
    cluster.resize("workers", 2)
    cluster.idle(2)
    hosts = sorted(cluster.machine(f"workers-{number}")["host"] for number in (1, 2))
    seen = cluster.run("login-1", *AS_CAROL, "srun --quiet --immediate=30 --nodes=2 sh -c 'hostname; cat ~/.ssh/id_ed25519.pub'")
    lines = seen.splitlines()
    assert sorted(line for line in lines if line in hosts) == hosts
    assert len({line for line in lines if line.startswith("ssh-ed25519 ")}) == 1
    assert cluster.run("login-1", *AS_CAROL, f"ssh -o StrictHostKeyChecking=no {hosts[1]} pwd 2>/dev/null") == "/fsx/carol"


def test_systemd_mounts_the_file_system_when_it_is_used(cluster: Running) -> None:
    for name in ("controller-1", "login-1", "workers-2"):
        assert cluster.run(name, "systemctl", "is-active", "fsx.automount") == "active"
        assert "lustre" in cluster.run(name, "grep", " /fsx ", "/etc/fstab")
