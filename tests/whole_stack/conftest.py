"""One embedded AWS for all faults, and the table at the end."""

from collections.abc import Iterator

import pytest

from local_aws import server
from local_aws.server import EmbeddedAws
from tests.whole_stack.comparison import Comparison
from tests.whole_stack.laboratory import SPEED, Laboratory, laboratory

_COMPARISON = pytest.StashKey[Comparison]()


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    """An account in which both implementations can be deployed."""
    with EmbeddedAws(speed=SPEED) as aws:
        server.reset()
        yield laboratory(aws, tmp_path_factory.mktemp("whole-stack"))
        server.reset()


@pytest.fixture(scope="module")
def comparison(request: pytest.FixtureRequest) -> Comparison:
    """Where outcomes are gathered."""
    return request.config.stash.setdefault(_COMPARISON, Comparison())


def pytest_unconfigure(config: pytest.Config) -> None:
    """Print the table last, where both implementations were driven through the faults."""
    gathered = config.stash.get(_COMPARISON, None)
    if gathered and gathered.of("stock"):
        print("", *gathered.lines(), sep="\n")
