"""Fixtures for tests that need an AWS account: import them in a conftest.py.

Each test process has one account (pytest-xdist's workers have one each); `fresh_aws` empties it first.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import boto3
import pytest

from local_aws import control, server
from local_aws.clock import DEFAULT_SPEED, clock
from local_aws.credentials import OWNER
from local_aws.nodes.runner import SimulatedNodes, simulated_nodes
from local_aws.server import ACCOUNT, EmbeddedAws

SPEED = 600.0  # ten of AWS's minutes in a second
REGION = "us-west-2"

Client: TypeAlias = Callable[..., Any]

__all__ = ["ACCOUNT", "REGION", "Client", "ask", "aws", "client", "clients_of", "emptied", "fresh_aws", "nodes", "nodes_that_run"]


@pytest.fixture(scope="session")
def aws() -> Iterator[EmbeddedAws]:
    """Yield the account of this test process, with its current content."""
    with EmbeddedAws(speed=SPEED) as embedded:
        yield embedded
    clock.set_speed(DEFAULT_SPEED)


@contextmanager
def emptied(speed: float) -> Iterator[None]:
    """Empty the account before and after a block, whose clock runs at this speed."""
    server.reset()
    clock.set_speed(speed)
    yield
    server.reset()
    clock.set_speed(SPEED)


@pytest.fixture
def fresh_aws(aws: EmbeddedAws) -> EmbeddedAws:
    """Return the account, emptied."""
    server.reset()
    clock.set_speed(SPEED)
    return aws


@pytest.fixture
def client(fresh_aws: EmbeddedAws) -> Client:
    """Return a function that creates boto3 clients of the emptied account, as its owner: `client("s3")`."""
    return clients_of(fresh_aws)


def clients_of(aws: EmbeddedAws) -> Client:
    """Return the same for an account that is not emptied."""

    def make(service: str, **options: Any) -> Any:
        return boto3.client(service, endpoint_url=aws.endpoint, **{"region_name": REGION, **OWNER.client_keys, **options})

    return make


def ask(path: str, method: str = "GET", body: bytes = b"") -> Any:
    """Return the response of the embedded AWS at a control path: `ask("invocations")`."""
    status, answer = control.handle(method, control.PREFIX + path, body)
    if status != 200:
        raise ValueError(f"{path} answers {status}: {answer}")
    return answer


@contextmanager
def nodes_that_run(aws: EmbeddedAws, folder: Path) -> Iterator[SimulatedNodes]:
    """Empty the account and run simulated nodes within the block."""
    server.reset()
    clock.set_speed(SPEED)
    with simulated_nodes(folder, aws.endpoint) as runner:
        yield runner
        server.reset()


@pytest.fixture(scope="module")
def nodes(aws: EmbeddedAws, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimulatedNodes]:
    """Run simulated nodes for a module's tests."""
    with nodes_that_run(aws, tmp_path_factory.mktemp("nodes")) as runner:
        yield runner
