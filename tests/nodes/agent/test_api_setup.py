"""A cluster whose Slurm HyperPod configures from the request: its image starts Slurm, then our scripts run."""

from collections.abc import Callable, Iterator

import pytest

from local_aws import hyperpod
from local_aws.nodes.agent.behaviour import Behaviour
from local_aws.nodes.runner import SimulatedNodes
from tests.local.hyperpod.world import World, until
from tests.node_settings import LOCAL_DATABASE, Json, slurm, user
from tests.nodes.agent.test_unkind_agent import is_whole
from tests.nodes.bundle import Bundle, lay
from tests.nodes.cluster.running import UP_S, Running
from tests.nodes.gpus.gpu_cluster import ONE_GPU, SLURMCTLD_LOG, TYPES

pytestmark = pytest.mark.local


Make = Callable[[Behaviour], Running]
IMAGES_PASSWORD = "grep ^StoragePass=image$ /opt/slurm/etc/slurmdbd.conf"


@pytest.fixture
def make(world: World, nodes: SimulatedNodes, file_system: Json) -> Iterator[Make]:
    """Create a cluster with /fsx mounted by HyperPod and accounting on the controller."""

    def make(behaviour: Behaviour) -> Running:
        nodes.behaviour = behaviour
        settings = {"users": [user("alice", 10001)], "accounting": LOCAL_DATABASE, "slurm": slurm(setup="api")}
        groups = [{"instance_group_name": name, "partition_name": name} for name in ("workers", "others")]
        parameters = {**file_system, "worker_groups": groups}
        bundle = Bundle(parameters, settings | {"instance_types": TYPES}, parameters_file="slurm_groups.json")
        lustre = {"DnsName": file_system["fsx_dns_name"], "MountName": file_system["fsx_mountname"], "MountPath": "/fsx"}
        running = Running(
            world,
            nodes,
            {"controller": 1, "login": 1, "workers": 1},
            scripts=lay(world, bundle),
            types={"workers": ONE_GPU},
            storage=[{"FsxLustreConfig": lustre}],
        )
        running.create()
        return running

    yield make
    hyperpod.reset()
    nodes.behaviour = Behaviour()


def accounts_for_jobs(cluster: Running) -> None:
    """A job of a user, with its home on /fsx, is in the accounting database in the end."""
    alice = ("runuser", "-u", "alice", "--")
    assert cluster.run("login-1", *alice, "srun", "--partition=workers", "--chdir=/fsx/home/alice", "pwd") == "/fsx/home/alice"
    finished = ("sacct", "--allusers", "--noheader", "--format=user,state", "--parsable2", "--allocations", "--name=pwd")
    until(lambda: cluster.run("controller-1", *finished), lambda jobs: "alice|COMPLETED" in jobs, UP_S)


def test_a_cluster_is_whole_after_each_change(make: Make) -> None:
    cluster = make(Behaviour())
    is_whole(cluster)
    accounts_for_jobs(cluster)
    assert "hyperpod_prolog" in cluster.run("workers-1", "sh", "-c", "grep -i prolog= /run/slurm/conf/slurm.conf")

    for group, count in (("workers", 2), ("others", 1), ("others", 0), ("others", 1)):
        cluster.groups.setdefault(group, 0)
        cluster.resize(group, count)
        is_whole(cluster)

    before = cluster.machine("workers-2")
    cluster.world.sagemaker.batch_replace_cluster_nodes(ClusterName="ml", NodeIds=[before["id"]])
    cluster.settle()
    assert before["host"] in cluster.idle(3)
    is_whole(cluster)

    cluster.world.sagemaker.update_cluster_software(ClusterName="ml")
    is_whole(cluster)


def test_accounting_of_the_image_is_used_as_it_is(make: Make) -> None:
    cluster = make(Behaviour(image_accounting="running", gres="none", gres_conf="kept"))
    is_whole(cluster)
    accounts_for_jobs(cluster)
    assert cluster.run("controller-1", "sh", "-c", IMAGES_PASSWORD) == "StoragePass=image"
    noise = cluster.run("controller-1", "sh", "-c", "sinfo --noheader --format=%G 2>&1 >/dev/null")
    assert noise == ""

    cluster.resize("workers", 2)
    is_whole(cluster)
    assert "state to INVAL" not in cluster.run("controller-1", "cat", SLURMCTLD_LOG)
    default = cluster.run("controller-1", "sh", "-c", "cat /opt/slurm/etc/accounting.conf")
    assert default.startswith("# filled in by lifecycle scripts\nAccountingStorageType=accounting_storage/slurmdbd\n")
    assert "NodeName=DEFAULT Sockets=1" in default
