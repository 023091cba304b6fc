"""What tests of commands share: a working folder with cluster files, in place of the user's checkout."""

import shutil
from pathlib import Path

import pytest

from tests import cluster_files


@pytest.fixture
def checkout(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder that has the reference in clusters/, and the examples."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(cluster_files.CLUSTERS, folder / "clusters")
    (folder / "examples").symlink_to(cluster_files.EXAMPLES.parent)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture(autouse=True)
def _whole_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Print lines of any length, because tests of the content read whole lines."""
    monkeypatch.setenv("COLUMNS", "1000")
