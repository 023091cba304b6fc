"""What agents have been seen to write that Slurm does not take: the cluster comes up, grows and runs jobs all the same."""

from collections.abc import Iterator

import pytest

from local_aws import hyperpod
from local_aws.nodes.agent.behaviour import Behaviour
from local_aws.nodes.runner import SimulatedNodes
from tests.local.hyperpod.world import World, until
from tests.node_settings import Json
from tests.nodes.cluster.running import UP_S
from tests.nodes.gpus.gpu_cluster import FOUR_GPUS, GpuCluster

pytestmark = pytest.mark.local

JOB = "srun --immediate=20 --nodes=2 --gres=gpu:4 printenv CUDA_VISIBLE_DEVICES"


@pytest.fixture(autouse=True)
def no_clusters() -> Iterator[None]:
    """No cluster is left after the test."""
    yield
    hyperpod.reset()


@pytest.mark.parametrize(
    "behaviour",
    [
        Behaviour(automatic_topology="tree_without_file", gres="with_file"),
        Behaviour(automatic_topology="empty_yaml"),
    ],
    ids=lambda behaviour: behaviour.automatic_topology,
)
def test_a_cluster_grows_and_runs_jobs(world: World, nodes: SimulatedNodes, file_system: Json, behaviour: Behaviour) -> None:
    nodes.behaviour = behaviour
    cluster = GpuCluster.create(world, nodes, file_system, {"workers": FOUR_GPUS})
    assert world.cluster()["ClusterStatus"] == "InService", world.cluster().get("FailureMessage")

    cluster.running.resize("workers", 2)

    gpus = "gpu:4" if behaviour.gres == "with_file" else "gpu:a10g:4"
    until(lambda: sorted(cluster.gpus().values()), lambda states: states == [f"idle {gpus}"] * 2, UP_S)
    assert cluster.controller(JOB).splitlines() == ["0,1,2,3"] * 2
    assert cluster.drains() == 0
