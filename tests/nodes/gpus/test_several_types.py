"""GPU nodes that join a running cluster whose workers are of several types. GPU_JOINS=50 lets fifty join."""

import pytest

from local_aws.nodes.runner import SimulatedNodes
from tests.node_settings import Json
from tests.nodes.cluster.running import UP_S
from tests.nodes.gpus.gpu_cluster import FOUR_GPUS, KEEPER, ONE_GPU, GpuCluster
from tests.simulator.hyperpod.world import World, until

pytestmark = pytest.mark.local

# `dev` and `ones` are also the agent's; `later` is of a group without nodes.
PARTITIONS: list[Json] = [
    {"name": "ones", "groups": ["ones"], "options": {"MaxTime": "60", "PriorityTier": "10"}},
    {"name": "all", "groups": ["ones", "fours"], "options": {"Default": "YES", "MaxTime": "1-00:00:00"}},
    {"name": "later", "groups": ["later"], "options": {"MaxTime": "5"}},
]
GRES_CONF = "/opt/slurm/etc/gres.conf"


@pytest.fixture(scope="module")
def cluster(world: World, nodes: SimulatedNodes, file_system: Json) -> GpuCluster:
    """A cluster with one worker of each of two types."""
    in_slurm = {"settings": {"KillWait": "61", "EnforcePartLimits": "ANY"}, "partitions": PARTITIONS}
    return GpuCluster.create(world, nodes, file_system, {"ones": ONE_GPU, "fours": FOUR_GPUS}, in_slurm=in_slurm)


def partitions(cluster: GpuCluster) -> dict[str, dict[str, str]]:
    """The partitions of slurmctld, by their names."""
    said = cluster.controller("scontrol --oneliner show partition").splitlines()
    fields = [dict(word.split("=", 1) for word in line.split() if "=" in word) for line in said]
    return {each["PartitionName"]: each for each in fields}


def test_slurmctld_has_the_partitions_and_settings_of_the_cluster_file(cluster: GpuCluster) -> None:
    cluster.until_all_idle_with_gpus()
    until(lambda: partitions(cluster)["all"]["TotalNodes"], lambda count: count == "2", UP_S)
    found = partitions(cluster)
    assert (found["ones"]["MaxTime"], found["ones"]["PriorityTier"], found["ones"]["TotalNodes"]) == ("01:00:00", "10", "1")
    assert (found["later"]["MaxTime"], found["later"]["TotalNodes"]) == ("00:05:00", "0")
    assert [name for name, each in found.items() if each["Default"] == "YES"] == ["all"]
    assert cluster.controller("scontrol show config | grep ^KillWait").split()[2:] == ["61", "sec"]
    assert "time limit" in cluster.controller("srun --partition=ones --time=61 --immediate=5 true 2>&1 || true")
    assert cluster.controller("srun --nodes=2 --immediate=20 hostname | sort").split() == sorted(cluster.gpus())


def test_gpu_nodes_that_join_are_idle_in_the_end(cluster: GpuCluster) -> None:
    joined = cluster.let_nodes_join("ones", "fours")
    print(f"{joined} nodes joined, drained and resumed: {cluster.drains()}")
    until(lambda: partitions(cluster)["all"]["TotalNodes"], lambda count: int(count) == len(cluster.gpus()), UP_S)
    assert partitions(cluster)["ones"]["MaxTime"] == "01:00:00"


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
