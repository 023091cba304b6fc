"""A cluster whose user has the example jobs on the shared file system, as their README says."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from local_aws.nodes import client, protocol
from local_aws.nodes.runner import SimulatedNodes
from local_aws.nodes.specs import NodeFile
from local_aws.server import EmbeddedAws
from local_aws.testing import aws, nodes_that_run
from tests.node_settings import user
from tests.nodes.bundle import Bundle, lay, make_file_system
from tests.nodes.cluster.running import UP_S, Running
from tests.nodes.jobs.submitted import JOBS, Cluster
from tests.simulator.hyperpod.world import World, until

__all__ = ["aws"]

EXAMPLES = Path(__file__).parents[3] / "examples" / "jobs"
LAID = "/opt/jobs"
# Slurm gives a silent node up after a minute on HyperPod; tests cannot wait for that. What a script writes before the agent's
# file names the controllers may be lost.
IMPATIENT = """\
#!/bin/bash
[[ "$HYPERPOD_ROLE" == controller ]] || exit 0
until grep --quiet ^SlurmctldHost=ip- /opt/slurm/etc/slurm.conf; do sleep 0.2; done
sed -i 's/^SlurmdTimeout=.*/SlurmdTimeout=10/' /opt/slurm/etc/slurm.conf
"""


@pytest.fixture(scope="package")
def nodes(aws: EmbeddedAws, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedNodes]:
    """The account, emptied, with nodes that run; they end with this folder's tests."""
    with nodes_that_run(aws, tmp_path_factory.mktemp("nodes")) as runner:
        yield runner


@pytest.fixture(scope="package")
def cluster(aws: EmbeddedAws, nodes: SimulatedNodes) -> Cluster:
    """A controller, a login node and two workers, in service, with the jobs in alice's home."""
    world = World(aws.endpoint)
    world.make()
    world.allow_all_but()
    bundle = Bundle(make_file_system(world), {"users": [user("alice", 10001)]}, extra={"before_slurm/impatient.sh": IMPATIENT})
    running = Running(world, nodes, scripts=lay(world, bundle))
    running.create()
    running.idle(2)
    memory = ("sinfo", "--noheader", "--format=%m")  # 1 until nodes have reported theirs
    until(lambda: running.run("controller-1", *memory), lambda found: int(found) > 1, UP_S)
    lay_jobs(running)
    return Cluster(running)


def lay_jobs(running: Running) -> None:
    """Copy the example jobs to alice's home, as she would from a checkout."""
    machine = running.machine("login-1")
    files = {f"{LAID}/{path.relative_to(EXAMPLES)}": NodeFile(path.read_bytes()) for path in examples()}
    client.ask(Path(machine["folder"]), "put", machine["id"], protocol.files_to_json(files))
    running.run("login-1", "runuser", "--login", "alice", "--command", f"cp -r {LAID} {JOBS}")


def examples() -> list[Path]:
    """All files of the examples."""
    return [path for path in EXAMPLES.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
