"""A cluster of our own scripts under an agent that behaves as badly as any source says."""

from collections.abc import Callable, Iterator

import pytest

from local_aws import hyperpod
from local_aws.nodes.agent.behaviour import Behaviour
from local_aws.nodes.runner import SimulatedNodes
from local_aws.server import EmbeddedAws
from local_aws.testing import aws, nodes
from tests.local.hyperpod.world import World
from tests.node_settings import LOCAL_DATABASE, Json, user
from tests.nodes.bundle import Bundle, lay, make_file_system
from tests.nodes.cluster.running import Running
from tests.nodes.gpus.gpu_cluster import ONE_GPU, TYPES

__all__ = ["aws", "nodes"]

# The agent is as bad as it should be: else the tests would show nothing.
DOUBTS = """\
#!/bin/bash
set -euo pipefail
[ "$(readlink /proc/self/ns/mnt)" != "$(readlink /proc/1/ns/mnt)" ] || { echo "the mount namespace is the node's"; exit 1; }
! getent hosts "$(hostname)" || { echo "the host name resolves"; exit 1; }
"""
Create = Callable[..., Running]


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


@pytest.fixture
def create(world: World, nodes: SimulatedNodes, file_system: Json) -> Iterator[Create]:
    """Create a cluster whose `workers` have GPUs: `create(Behaviour(), {"controller": 1, "workers": 1})`."""

    def create(behaviour: Behaviour, groups: dict[str, int], known: Json = TYPES) -> Running:
        nodes.behaviour = behaviour
        workers = [
            {"instance_group_name": name, "partition_name": name} for name in groups if name not in ("controller", "login")
        ]
        settings = {"users": [user("alice", 10001)], "accounting": LOCAL_DATABASE, "instance_types": known}
        bundle = Bundle({**file_system, "worker_groups": workers}, settings, {"before_slurm/1_doubts.sh": DOUBTS})
        running = Running(world, nodes, dict(groups), scripts=lay(world, bundle), types={"workers": ONE_GPU})
        running.create()
        return running

    yield create
    hyperpod.reset()
    nodes.behaviour = Behaviour()
