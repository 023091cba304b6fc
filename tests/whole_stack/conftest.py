"""One embedded AWS with a network and a bootstrapped region, for all faults."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from local_aws import server
from local_aws.clock import clock
from local_aws.server import EmbeddedAws
from tests.whole_stack.laboratory import SPEED, Laboratory, laboratory


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    """The laboratory of this run."""
    with EmbeddedAws(speed=SPEED) as aws:
        server.reset()
        yield laboratory(aws, tmp_path_factory.mktemp("whole-stack"))
        server.reset()
        clock.set_speed(clock.speed)


__all__ = ["Path", "lab"]
