"""A cluster of our own scripts under an agent that behaves as badly as any source says."""

from collections.abc import Callable, Iterable, Iterator

import pytest

from local_aws import hyperpod
from local_aws.nodes.agent.behaviour import Behaviour
from local_aws.nodes.runner import SimulatedNodes
from local_aws.server import EmbeddedAws
from local_aws.testing import aws, nodes
from tests.node_settings import LOCAL_DATABASE, Json, slurm, user
from tests.nodes.bundle import Bundle, lay, make_file_system
from tests.nodes.cluster.running import Running
from tests.nodes.gpus.gpu_cluster import ONE_GPU, TYPES
from tests.simulator.hyperpod.world import World

__all__ = ["aws", "nodes"]

# The agent is as bad as it should be: else the tests would show nothing.
OWN_MOUNTS = """\
[ "$(readlink /proc/self/ns/mnt)" != "$(readlink /proc/1/ns/mnt)" ] || { echo "the mount namespace is the node's"; exit 1; }
"""
NO_NAME = """\
! getent hosts "$(hostname)" || { echo "the host name resolves"; exit 1; }
"""
Create = Callable[..., Running]
AddGroup = Callable[[Running, str], None]


def doubts(behaviour: Behaviour) -> str:
    """A script of a user that fails where the agent is better than it should be."""
    lines = (OWN_MOUNTS if behaviour.script_mounts != "host" else "", NO_NAME if behaviour.host_name == "unknown" else "")
    return f"#!/bin/bash\nset -euo pipefail\n{''.join(lines)}"


@pytest.fixture(scope="module")
def world(aws: EmbeddedAws, nodes: SimulatedNodes) -> World:
    """The account, with what every cluster needs in it."""
    world = World(aws.endpoint)
    world.make()
    world.allow_all_but()
    return world


@pytest.fixture(scope="module")
def file_system(world: World) -> Json:
    """A file system to mount at /fsx."""
    return make_file_system(world)


def bundle_of(file_system: Json, groups: Iterable[str], behaviour: Behaviour) -> Bundle:
    """Return our scripts for a cluster file with these groups; each group of workers has its own partition."""
    workers = [name for name in groups if name not in ("controller", "login")]
    layout = [{"instance_group_name": name, "partition_name": name} for name in workers]
    partitions = [{"name": name, "groups": [name], "options": {}} for name in workers]
    settings = {
        "users": [user("alice", 10001)],
        "accounting": LOCAL_DATABASE,
        "instance_types": TYPES,
        "slurm": slurm(partitions=partitions),
    }
    parameters = {**file_system, "worker_groups": layout}
    return Bundle(parameters, settings, {"before_slurm/1_doubts.sh": doubts(behaviour)})


@pytest.fixture
def create(world: World, nodes: SimulatedNodes, file_system: Json) -> Iterator[Create]:
    """Create a cluster whose `workers` have GPUs: `create(Behaviour(), {"controller": 1, "workers": 1})`."""

    def create(behaviour: Behaviour, groups: dict[str, int]) -> Running:
        nodes.behaviour = behaviour
        scripts = lay(world, bundle_of(file_system, groups, behaviour))
        running = Running(world, nodes, dict(groups), scripts=scripts, types={"workers": ONE_GPU})
        running.create()
        return running

    yield create
    hyperpod.reset()
    nodes.behaviour = Behaviour()


@pytest.fixture
def add_group(world: World, nodes: SimulatedNodes, file_system: Json) -> AddGroup:
    """Deploy a cluster file with one more group: `add_group(cluster, "new")`."""

    def add(cluster: Running, group: str) -> None:
        lay(world, bundle_of(file_system, [*cluster.groups, group], nodes.behaviour))
        cluster.resize(group, 1)

    return add
