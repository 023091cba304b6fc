"""Fixtures of the custom resource's tests."""

import pytest

from tests.unit.cluster_resource.world import World


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker that says which row of the fault list a test covers."""
    config.addinivalue_line("markers", "fault(number): the row of the list of faults that the test covers")


@pytest.fixture
def world() -> World:
    """A world in which nothing has happened yet."""
    return World()
