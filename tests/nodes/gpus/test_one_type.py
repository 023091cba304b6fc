"""GPU nodes that join a running cluster whose workers are of one type. GPU_JOINS=50 lets fifty join."""

import pytest

from local_aws.nodes.runner import SimulatedNodes
from tests.local.hyperpod.world import World, until
from tests.node_settings import Json
from tests.nodes.cluster.running import UP_S
from tests.nodes.gpus.gpu_cluster import KEEPER, ONE_GPU, GpuCluster

pytestmark = pytest.mark.local


@pytest.fixture(scope="module")
def cluster(world: World, nodes: SimulatedNodes, file_system: Json) -> GpuCluster:
    """A cluster with one worker."""
    return GpuCluster.create(world, nodes, file_system, {"workers": ONE_GPU}, later=("without",))


def test_no_gpu_node_that_joins_is_drained(cluster: GpuCluster) -> None:
    joined = cluster.let_nodes_join("workers")
    print(f"{joined} nodes joined, drained: {cluster.drains()}")
    assert cluster.drains() == 0


def test_a_gpu_node_joins_before_the_keeper_has_seen_it(cluster: GpuCluster) -> None:
    cluster.controller(f"systemctl stop {KEEPER}")

    cluster.running.resize("workers", cluster.running.groups["workers"] + 1)

    cluster.until_all_idle_with_gpus()
    assert cluster.drains() == 0
    cluster.controller(f"systemctl start {KEEPER}")


def test_a_node_without_gpus_joins_and_is_idle_without_them(cluster: GpuCluster) -> None:
    cluster.running.resize("without", 1)  # until the keeper comes by, its node line has the others' GPUs

    host = cluster.running.machine("without-1")["host"]
    until(lambda: cluster.gpus().get(host), lambda state: state == "idle (null)", UP_S)
    cluster.running.resize("without", 0)
