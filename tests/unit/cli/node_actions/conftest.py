"""The cluster of the tests of commands on nodes, and the lines that a command shows."""

import pytest

from cli.result import Block
from tests.unit.cli.node_actions.fake_cluster import FakeCluster


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> FakeCluster:
    monkeypatch.setattr("getpass.getuser", lambda: "alice")
    return FakeCluster()


@pytest.fixture
def shown() -> list[Block]:
    return []
