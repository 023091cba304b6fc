"""A cluster whose Slurm HyperPod configures from the request: its image starts Slurm, then our scripts run."""

from collections.abc import Iterator

import pytest

from local_aws import hyperpod
from local_aws.nodes.agent.behaviour import Behaviour
from local_aws.nodes.runner import SimulatedNodes
from tests.local.hyperpod.world import World, until
from tests.node_settings import LOCAL_DATABASE, Json, slurm, user
from tests.nodes.agent.test_unkind_agent import is_whole
from tests.nodes.bundle import Bundle, lay
from tests.nodes.cluster.running import UP_S, Running

pytestmark = pytest.mark.local


@pytest.fixture
def cluster(world: World, nodes: SimulatedNodes, file_system: Json) -> Iterator[Running]:
    """The cluster, with /fsx mounted by HyperPod and accounting on the controller."""
    settings = {"users": [user("alice", 10001)], "accounting": LOCAL_DATABASE, "slurm": slurm(setup="api")}
    groups = [{"instance_group_name": name, "partition_name": name} for name in ("workers", "others")]
    parameters = {**file_system, "worker_groups": groups}
    bundle = Bundle(parameters, settings, parameters_file="slurm_groups.json")
    lustre = {"DnsName": file_system["fsx_dns_name"], "MountName": file_system["fsx_mountname"], "MountPath": "/fsx"}
    running = Running(
        world,
        nodes,
        {"controller": 1, "login": 1, "workers": 1},
        scripts=lay(world, bundle),
        storage=[{"FsxLustreConfig": lustre}],
    )
    running.create()
    yield running
    hyperpod.reset()
    nodes.behaviour = Behaviour()


def test_a_cluster_is_whole_after_each_change(cluster: Running) -> None:
    is_whole(cluster)
    alice = ("runuser", "-u", "alice", "--")
    assert cluster.run("login-1", *alice, "srun", "--partition=workers", "--chdir=/fsx/home/alice", "pwd") == "/fsx/home/alice"
    finished = ("sacct", "--allusers", "--noheader", "--format=user,state", "--parsable2", "--allocations", "--name=pwd")
    until(lambda: cluster.run("controller-1", *finished), lambda jobs: "alice|COMPLETED" in jobs, UP_S)
    assert "hyperpod_prolog" in cluster.run("workers-1", "sh", "-c", "grep -i prolog= /run/slurm/conf/slurm.conf")

    for group, count in (("workers", 2), ("others", 1), ("others", 0), ("others", 1)):
        cluster.groups.setdefault(group, 0)
        cluster.resize(group, count)
        is_whole(cluster)
    assert "others" in cluster.run("controller-1", "sinfo", "--noheader", "--format=%R")
