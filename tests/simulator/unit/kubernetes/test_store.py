"""A build's name changes with its recipe, its programs and Debian's packages."""

import dataclasses
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from local_aws.builds import cache as cached
from local_aws.kubernetes.programs import store


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    copy = tmp_path / "recipe"
    shutil.copytree(store.RECIPE, copy)
    monkeypatch.setattr(store, "RECIPE", copy)
    return copy


def test_the_name_changes_with_all_that_a_build_depends_on(recipe: Path) -> None:
    fewer = dataclasses.replace(store.CONTROL_PLANE, programs=("etcd",))
    names = {store.build_of(programs, inputs) for programs in (store.CONTROL_PLANE, fewer) for inputs in ("1", "2")}
    for script in ("build.sh", "inputs.sh"):
        with (recipe / script).open("a") as file:
            file.write("# changed\n")
        names.add(store.build_of(store.CONTROL_PLANE, "1"))
    assert len(names) == 6


def test_the_newest_build_of_the_current_recipe_is_found(built: Callable[..., Path], recipe: Path) -> None:
    old = built()
    new = store.build_of(store.CONTROL_PLANE, "other inputs")
    new.mkdir()
    os.utime(old, (1, 1))

    assert store.find(store.CONTROL_PLANE) == new
    assert store.find(store.NODE) is None
    (recipe / "build.sh").write_text("another recipe")
    assert store.find(store.CONTROL_PLANE) is None


def test_an_unfinished_build_is_not_found_and_is_removed() -> None:
    finished = store.build_of(store.CONTROL_PLANE, "inputs")
    part = finished.with_name(f"{finished.name}{cached.PART}")
    part.mkdir(parents=True)

    assert store.find(store.CONTROL_PLANE) is None
    cached.remove_parts(store.place())
    assert not part.exists()
