"""One cluster for all tests here whose nodes run our own lifecycle scripts: a test puts back what it changes."""

from collections.abc import Callable, Iterator

import pytest

from local_aws.nodes.runner import SimulatedNodes
from local_aws.server import EmbeddedAws
from local_aws.testing import aws, nodes_that_run
from tests.node_settings import LOCAL_DATABASE, Json, slurm, user
from tests.nodes.bundle import Bundle, lay, make_file_system
from tests.nodes.cluster.running import UP_S, Running
from tests.nodes.faults.provisioning import Provisioning
from tests.nodes.faults.user import as_alice, state
from tests.nodes.gpus.gpu_cluster import ONE_GPU, TYPES
from tests.simulator.hyperpod.world import World, until

__all__ = ["aws"]

ENFORCED = {
    "settings": {"AccountingStorageEnforce": "associations,limits,qos"},
    "partitions": [
        {"name": "short", "groups": ["workers"], "options": {"QOS": "short"}},
        {"name": "shared", "groups": ["workers"], "options": {}},  # HyperPod's partitions give whole nodes
    ],
}


@pytest.fixture(scope="package")
def nodes(aws: EmbeddedAws, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedNodes]:
    """The account, emptied, with nodes that run; they end with this folder's tests."""
    with nodes_that_run(aws, tmp_path_factory.mktemp("nodes")) as runner:
        yield runner


@pytest.fixture(scope="package")
def world(aws: EmbeddedAws, nodes: SimulatedNodes) -> World:
    """The account, with what every cluster needs in it, and a route by which nodes read secrets."""
    world = World(aws.endpoint)
    world.make()
    world.route_to_aws()
    world.allow_all_but()
    return world


@pytest.fixture(scope="package")
def file_system(world: World) -> Json:
    """A file system to mount at /fsx."""
    return make_file_system(world)


@pytest.fixture(scope="package")
def ours(file_system: Json) -> Bundle:
    """The cluster's bundle: one user, accounting on the controller, workers with GPUs, and partitions of their own."""
    settings = {
        "users": [user("alice", 10001)],
        "accounting": LOCAL_DATABASE,
        "instance_types": TYPES,
        "slurm": slurm(**ENFORCED),
    }
    return Bundle(file_system, settings)


@pytest.fixture(scope="package")
def cluster(world: World, nodes: SimulatedNodes, ours: Bundle) -> Running:
    """A controller, a login node and two workers, in service and complete: nothing but the tests changes them."""
    running = Running(world, nodes, scripts=lay(world, ours), types={"workers": ONE_GPU})
    running.create()
    running.completed()
    return running


@pytest.fixture
def job(cluster: Running) -> Iterator[str]:
    """A job of alice's that runs on a worker until the test ends."""
    job = as_alice(cluster, "login-1", "sbatch --parsable --output=/dev/null --wrap='sleep 600'")
    until(lambda: state(cluster, job), lambda seen: seen == "RUNNING", UP_S)
    yield job
    as_alice(cluster, "login-1", f"scancel {job}")
    cluster.idle(2)


Again = Callable[..., Provisioning]


@pytest.fixture
def again(cluster: Running, ours: Bundle) -> Again:
    """Run our scripts once more on a node of the cluster: `again("login-1", users=[...])`.

    ``hurry`` takes minutes out of the scripts that a test cannot wait for.
    """

    def begin(node: str, *, hurry: dict[str, tuple[str, str]] | None = None, **settings: object) -> Provisioning:
        bundle = Bundle(ours.parameters, ours.settings | settings)
        return Provisioning(cluster, node, bundle, hurry=hurry or {}).begin()

    return begin
