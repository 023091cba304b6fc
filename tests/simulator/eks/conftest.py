"""An account with what an EKS cluster needs, and control planes without processes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from local_aws import durations, eks, faults, testing
from local_aws.eks import control_planes
from local_aws.server import EmbeddedAws
from tests.simulator.eks.world import FakePrograms, World

SPEED = 6000.0  # ten of AWS's minutes in a tenth of a second


@pytest.fixture(scope="module")
def account(aws: EmbeddedAws) -> Iterator[World]:
    """The account, emptied once, with a VPC of two zones and roles."""
    with testing.emptied(SPEED):
        world = World(aws.endpoint)
        world.make()
        yield world


@pytest.fixture
def world(account: World, tmp_path: Path) -> Iterator[World]:
    """The account without clusters."""
    account.programs = FakePrograms()
    control_planes.use(account.programs.programs())
    yield account
    eks.reset()
    control_planes.use(control_planes.REAL)
    durations.reset()
    faults.reset()
