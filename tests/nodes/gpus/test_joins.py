"""GPU nodes that join a running cluster. GPU_JOINS=50 runs fifty joins of each kind of cluster."""

import itertools
import os

import pytest

from local_aws.nodes.runner import SimulatedNodes
from tests.local.hyperpod.world import World, until
from tests.nodes.bundle import Json
from tests.nodes.cluster.running import UP_S
from tests.nodes.gpus.gpu_cluster import FOUR_GPUS, ONE_GPU, GpuCluster

pytestmark = pytest.mark.local

JOINS = int(os.environ.get("GPU_JOINS", "3"))
KEEPER = "hyperpod-slurm-conf"


def join(cluster: GpuCluster, group: str) -> int:
    """Let nodes of a group join in each way in turn, and return how many did: one more, a replacement, two more, two of each."""
    running, joined = cluster.running, 0
    before = running.groups[group]
    for count in (before + 1, before + 3):
        running.resize(group, count)
        cluster.until_all_idle_with_gpus()
        names = [f"{group}-{number + 1}" for number in range(count)][-(count - before) :][:2]
        cluster.replace(*names)
        cluster.until_all_idle_with_gpus()
        joined = joined + (1 if count == before + 1 else 2) + len(names)
    running.resize(group, before)
    return joined


def test_no_gpu_node_that_joins_is_drained(world: World, nodes: SimulatedNodes, file_system: Json) -> None:
    cluster = GpuCluster.create(world, nodes, file_system, {"workers": ONE_GPU})
    joined = 0
    while joined < JOINS:
        joined += join(cluster, "workers")
    print(f"{joined} nodes joined, drained: {cluster.drains()}")
    assert cluster.drains() == 0


def test_gpu_nodes_of_several_types_that_join_are_idle_in_the_end(world: World, nodes: SimulatedNodes, file_system: Json) -> None:
    cluster = GpuCluster.create(world, nodes, file_system, {"ones": ONE_GPU, "fours": FOUR_GPUS})
    joined, groups = 0, itertools.cycle(("ones", "fours"))
    while joined < JOINS:
        joined += join(cluster, next(groups))
    print(f"{joined} nodes joined, drained and resumed: {cluster.drains()}")


def test_a_gpu_node_joins_before_the_keeper_has_seen_it(world: World, nodes: SimulatedNodes, file_system: Json) -> None:
    cluster = GpuCluster.create(world, nodes, file_system, {"workers": ONE_GPU})
    cluster.controller(f"systemctl stop {KEEPER}")

    cluster.running.resize("workers", 2)

    cluster.until_all_idle_with_gpus()
    assert cluster.drains() == 0


def test_a_node_that_slurm_drained_for_gpus_that_it_has_is_resumed_and_one_that_a_person_drained_is_not(
    world: World, nodes: SimulatedNodes, file_system: Json
) -> None:
    cluster = GpuCluster.create(world, nodes, file_system, {"ones": ONE_GPU, "fours": FOUR_GPUS})
    one, four = (cluster.running.machine(name)["host"] for name in ("ones-1", "fours-1"))
    cluster.until_all_idle_with_gpus()
    cluster.controller(f"systemctl stop {KEEPER}; cp /opt/slurm/etc/gres.conf /root; sed -i /{one}/d /opt/slurm/etc/gres.conf")
    cluster.controller(f"scontrol reconfigure; scontrol update NodeName={four} State=DRAIN Reason=maintenance")
    until(lambda: cluster.gpus()[one], lambda state: state.startswith("inval"), UP_S)
    cluster.controller("mv /root/gres.conf /opt/slurm/etc/; scontrol reconfigure")
    until(lambda: cluster.gpus()[one], lambda state: state.startswith("drained"), UP_S)

    cluster.controller(f"systemctl start {KEEPER}")

    until(lambda: cluster.gpus()[one], lambda state: state == "idle gpu:a10g:1", UP_S)
    assert cluster.gpus()[four] == "drained gpu:a10g:4"
    assert f"resumed {one}" in cluster.controller(f"journalctl --unit {KEEPER} --output cat")
