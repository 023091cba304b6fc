"""docs/adr/0001: the folder `constructs/` has the name of a package that aws-cdk-lib needs."""

from pathlib import Path

import constructs
import pytest

from tests.conftest import ROOT, hidden_package


def test_python_merges_the_folder_and_the_package(tmp_path: Path) -> None:
    folders = [Path(folder) for folder in constructs.__path__]
    assert ROOT / "constructs" in folders
    assert len(folders) == 2
    assert hidden_package(ROOT) is None


@pytest.mark.parametrize("folder", ["constructs", "tests/constructs"])
def test_a_file_that_hides_the_package_is_reported(tmp_path: Path, folder: str) -> None:
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "__init__.py").touch()
    assert str(hidden_package(tmp_path)).startswith(f"{folder}/__init__.py hides the package `constructs`")
