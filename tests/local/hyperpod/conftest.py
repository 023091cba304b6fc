"""An account with all that a cluster needs: a VPC, an execution role, scripts in a bucket."""

from collections.abc import Iterator

import pytest

from local_aws import durations, faults, hyperpod, server, testing
from local_aws.clock import clock
from local_aws.server import EmbeddedAws
from tests.local.hyperpod.world import Hold, World

SPEED = 3000.0  # ten of AWS's minutes in a fifth of a second


@pytest.fixture(scope="module")
def account(aws: EmbeddedAws) -> Iterator[World]:
    """The account, emptied once, with what every cluster needs in it."""
    server.reset()
    clock.set_speed(SPEED)
    world = World(aws.endpoint)
    world.make()
    yield world
    server.reset()
    clock.set_speed(testing.SPEED)


@pytest.fixture
def world(account: World) -> Iterator[World]:
    """The account without clusters."""
    account.allow_all_but()
    yield account
    hyperpod.reset()
    faults.reset()


@pytest.fixture
def hold() -> Hold:
    """Let something on AWS take so long that the test can look at what is before it."""

    def hold(name: str) -> None:
        durations.change({name: 1e9})

    return hold
