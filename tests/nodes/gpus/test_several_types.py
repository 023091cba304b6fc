"""GPU nodes that join a running cluster whose workers are of several types. GPU_JOINS=50 lets fifty join."""

import pytest

from local_aws.nodes.runner import SimulatedNodes
from tests.local.hyperpod.world import World, until
from tests.node_settings import Json
from tests.nodes.cluster.running import UP_S
from tests.nodes.gpus.gpu_cluster import FOUR_GPUS, KEEPER, ONE_GPU, GpuCluster

pytestmark = pytest.mark.local

GRES_CONF = "/opt/slurm/etc/gres.conf"


@pytest.fixture(scope="module")
def cluster(world: World, nodes: SimulatedNodes, file_system: Json) -> GpuCluster:
    """A cluster with one worker of each of two types."""
    return GpuCluster.create(world, nodes, file_system, {"ones": ONE_GPU, "fours": FOUR_GPUS})


def test_gpu_nodes_that_join_are_idle_in_the_end(cluster: GpuCluster) -> None:
    joined = cluster.let_nodes_join("ones", "fours")
    print(f"{joined} nodes joined, drained and resumed: {cluster.drains()}")


def test_a_node_that_slurm_drained_for_gpus_that_it_has_is_resumed_and_one_that_a_person_drained_is_not(
    cluster: GpuCluster,
) -> None:
    one, four = (cluster.running.machine(name)["host"] for name in ("ones-1", "fours-1"))
    cluster.until_all_idle_with_gpus()
    cluster.controller(f"systemctl stop {KEEPER}; cp {GRES_CONF} /root; sed -i /{one}/d {GRES_CONF}")
    cluster.controller(f"scontrol reconfigure; scontrol update NodeName={four} State=DRAIN Reason=maintenance")
    until(lambda: cluster.gpus()[one], lambda state: state.startswith("inval"), UP_S)
    cluster.controller(f"mv /root/gres.conf {GRES_CONF}; scontrol reconfigure")
    until(lambda: cluster.gpus()[one], lambda state: state.startswith("drained"), UP_S)

    cluster.controller(f"systemctl start {KEEPER}")

    until(lambda: cluster.gpus()[one], lambda state: state == "idle gpu:a10g:1", UP_S)
    assert cluster.gpus()[four] == "drained gpu:a10g:4"
    assert f"resumed {one}" in cluster.controller(f"journalctl --unit {KEEPER} --output cat")
