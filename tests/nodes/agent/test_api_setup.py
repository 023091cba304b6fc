"""A cluster whose Slurm HyperPod configures from the request: its image starts Slurm, then our scripts run."""

from collections.abc import Callable, Iterator

import pytest

from local_aws import hyperpod
from local_aws.nodes.agent.behaviour import Behaviour
from local_aws.nodes.runner import SimulatedNodes
from tests.node_settings import LOCAL_DATABASE, Json, slurm, user
from tests.nodes.agent.test_unkind_agent import is_whole
from tests.nodes.bundle import Bundle, lay
from tests.nodes.cluster.running import UP_S, Running
from tests.nodes.gpus.gpu_cluster import FOUR_GPUS, ONE_GPU, SLURMCTLD_LOG, TYPES
from tests.simulator.hyperpod.world import World, until

pytestmark = pytest.mark.local


Make = Callable[..., Running]
IMAGES_PASSWORD = "grep ^StoragePass=image$ /opt/slurm/etc/slurmdbd.conf"


def bundle_of(file_system: Json, groups: tuple[str, ...] = ("workers", "others"), types: Json = TYPES) -> Bundle:
    """Our scripts for a cluster file with accounting on the controller, these groups and these types in its table."""
    settings = {"users": [user("alice", 10001)], "accounting": LOCAL_DATABASE, "slurm": slurm(setup="api")}
    layout = [{"instance_group_name": name, "partition_name": name} for name in groups]
    parameters = {**file_system, "worker_groups": layout}
    return Bundle(parameters, settings | {"instance_types": types}, parameters_file="slurm_groups.json")


@pytest.fixture
def make(world: World, nodes: SimulatedNodes, file_system: Json) -> Iterator[Make]:
    """Create a cluster with /fsx mounted by HyperPod and accounting on the controller."""

    def make(behaviour: Behaviour, bundle: Bundle | None = None) -> Running:
        nodes.behaviour = behaviour
        bundle = bundle or bundle_of(file_system)
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
    prologs = cluster.run("workers-1", "sh", "-c", "grep ^Prolog= /run/slurm/conf/slurm.conf").splitlines()
    assert prologs == ["Prolog=/opt/slurm/etc/prolog.d/*", "Prolog=/opt/hyperpod-cdk/hyperpod_prolog.sh"]
    both = "test -d /run/hyperpod-jobs && cat /run/slurm/dcgm-job-mapping/0"
    assert cluster.run("login-1", "runuser", "-u", "alice", "--", "srun", "--chdir=/", "sh", "-c", both).isdigit()

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
    cluster = make(Behaviour(image_accounting="running", slurm_start="before_scripts", gres="none", gres_conf="kept"))
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


def test_nodes_of_types_that_join_later_have_their_hardware_and_jobs_get_memory_and_gpus(make: Make, file_system: Json) -> None:
    """The image's slurmdbd is masked, which is no matter of hardware: so no cluster boots for that only."""
    agent = Behaviour(image_accounting="masked", gres="none", gres_conf="kept")
    cluster = make(agent, bundle_of(file_system, ("workers",), {ONE_GPU: TYPES[ONE_GPU]}))
    accounts_for_jobs(cluster)
    lay(cluster.world, bundle_of(file_system, ("workers", "new", "plain")))
    for group, kind in (("new", FOUR_GPUS), ("plain", "ml.m5.24xlarge")):
        cluster.types[group] = kind
        cluster.resize(group, 1)
    is_whole(cluster)

    def hardware(name: str) -> str:
        look = ("sinfo", "--noheader", "--partition=dev", f"--nodes={cluster.machine(name)['host']}", "--format=%X %Y %Z %m %G")
        return cluster.run("controller-1", *look)

    # Sockets, cores, threads as the groups request them, and 95 % of what slurmd finds, which is 95 % of EC2's memory here.
    expected = {"workers-1": "1 16 1 118292 gpu:a10g:1", "new-1": "1 24 1 177438 gpu:a10g:4", "plain-1": "2 24 1 354877 (null)"}
    until(lambda: {name: hardware(name) for name in expected}, lambda found: found == expected, UP_S)
    for partition, gpus, memory, devices in (("new", 4, "150G", "0,1,2,3"), ("workers", 1, "100G", "0")):
        job = ("srun", "--chdir=/", "--immediate=20", f"--partition={partition}", f"--gres=gpu:{gpus}", f"--mem={memory}")
        assert cluster.run("login-1", *job, "printenv", "CUDA_VISIBLE_DEVICES") == devices


def test_accounting_works_after_a_slurmctld_that_an_image_without_slurmdbd_started_before_the_scripts(make: Make) -> None:
    cluster = make(Behaviour(image_accounting="absent", slurm_start="before_scripts"))
    assert cluster.run("controller-1", "sh", "-c", f"{IMAGES_PASSWORD} || true") == ""
    accounts_for_jobs(cluster)
