"""Clusters of nodes with GPUs whose nodes run our own lifecycle scripts."""

from collections.abc import Iterator

import pytest

from local_aws import hyperpod
from local_aws.nodes.agent.behaviour import Behaviour
from local_aws.nodes.runner import SimulatedNodes
from local_aws.server import EmbeddedAws
from local_aws.testing import aws, nodes_that_run
from tests.node_settings import Json
from tests.nodes.bundle import make_file_system
from tests.simulator.hyperpod.world import World

__all__ = ["aws"]


@pytest.fixture(scope="package")
def nodes(aws: EmbeddedAws, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedNodes]:
    """The account, emptied, with nodes that run; they end with this folder's tests."""
    with nodes_that_run(aws, tmp_path_factory.mktemp("nodes")) as runner:
        yield runner


@pytest.fixture(scope="package")
def account(aws: EmbeddedAws, nodes: SimulatedNodes) -> World:
    """The account, with what every cluster needs in it."""
    world = World(aws.endpoint)
    world.make()
    world.allow_all_but()
    return world


@pytest.fixture(scope="package")
def file_system(account: World) -> Json:
    """A file system to mount at /fsx."""
    return make_file_system(account)


@pytest.fixture(scope="module")
def world(account: World, nodes: SimulatedNodes) -> Iterator[World]:
    """The account without clusters, after the module, too; the agent leaves GPUs to our scripts, which give them models."""
    nodes.behaviour = Behaviour(gres="none", gres_conf="kept")
    yield account
    hyperpod.reset()
