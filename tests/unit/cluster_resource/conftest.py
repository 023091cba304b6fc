"""Fixtures of the custom resource's tests."""

import pytest

from tests.faults_table.rows import LAST_WITHOUT_NODES
from tests.unit.cluster_resource.modes import MODES, SCRIPTS
from tests.unit.cluster_resource.world import World


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker that says which row of the fault list a test covers."""
    config.addinivalue_line("markers", "fault(number): the row of the list of faults that the test covers")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run each test of a fault in both modes; the others run with requests of `scripts`."""
    numbers = [int(number) for mark in metafunc.definition.iter_markers("fault") for number in mark.args]
    only = metafunc.definition.get_closest_marker("only_mode")
    if "world" in metafunc.fixturenames and any(number <= LAST_WITHOUT_NODES for number in numbers):
        metafunc.parametrize("mode", only.args if only else MODES, indirect=True)


@pytest.fixture(autouse=True)
def mode(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The kind of the requests of every world."""
    chosen: str = getattr(request, "param", SCRIPTS)
    monkeypatch.setattr(World, "mode", chosen)
    return chosen


@pytest.fixture
def world() -> World:
    """A world in which nothing has happened yet."""
    return World()
