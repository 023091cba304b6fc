"""Clusters of the embedded AWS whose nodes run our own lifecycle scripts."""

from collections.abc import Iterator

import pytest

from local_aws import faults, hyperpod
from local_aws.nodes.runner import SimulatedNodes
from local_aws.server import EmbeddedAws
from local_aws.testing import aws, nodes
from tests.local.hyperpod.world import World
from tests.nodes.bundle import Bundle, Json, lay, make_file_system, user
from tests.nodes.cluster.running import Running

__all__ = ["aws", "nodes"]

LOCAL_DATABASE = {"database": "local", "host": None, "port": 3306, "secret_arn": None}


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
def account(world: World) -> Iterator[World]:
    """The account without clusters, after the test, too."""
    yield world
    hyperpod.reset()
    faults.reset()


@pytest.fixture(scope="module")
def cluster(world: World, nodes: SimulatedNodes, file_system: Json) -> Running:
    """A controller with accounting, a login node and two workers, in service: a test puts back what it changes."""
    lay(world, Bundle(file_system, {"users": [user("alice", 10001)], "accounting": LOCAL_DATABASE}))
    running = Running(world, nodes)
    running.create()
    return running
