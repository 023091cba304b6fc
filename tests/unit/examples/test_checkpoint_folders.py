"""Which checkpoint the training example goes on from, whatever was interrupted."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SOURCE = Path(__file__).parents[3] / "examples" / "jobs" / "fsdp" / "checkpoint_folders.py"


@pytest.fixture(scope="module")
def folders() -> ModuleType:
    """The example's module: examples are no package, as users copy their folders."""
    spec = importlib.util.spec_from_file_location("checkpoint_folders", SOURCE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def save(folders: ModuleType, folder: Path, step: int, attempt: str = "1-0") -> Path:
    partial = folders.begin(folder, step, attempt)
    (partial / "part").write_text(f"step {step}")
    published: Path = folders.publish(partial, step)
    return published


def test_the_first_start_finds_nothing(folders: ModuleType, tmp_path: Path) -> None:
    assert folders.newest(tmp_path / "not yet made") is None


def test_the_newest_complete_one_counts_by_its_number(folders: ModuleType, tmp_path: Path) -> None:
    for step in (100, 9, 1000):
        save(folders, tmp_path, step)
    assert folders.newest(tmp_path).name == "step-00001000"


def test_one_that_was_being_written_does_not_count(folders: ModuleType, tmp_path: Path) -> None:
    done = save(folders, tmp_path, 25)
    (folders.begin(tmp_path, 50, "1-0") / "part").write_text("half")
    assert folders.newest(tmp_path) == done


def test_latest_names_it_for_people_and_scripts(folders: ModuleType, tmp_path: Path) -> None:
    save(folders, tmp_path, 25)
    save(folders, tmp_path, 50)
    assert (tmp_path / "latest").read_text() == "step-00000050\n"


def test_one_that_was_complete_before_latest_could_name_it_counts(folders: ModuleType, tmp_path: Path) -> None:
    save(folders, tmp_path, 25)
    folders.begin(tmp_path, 50, "1-0").rename(tmp_path / folders.name_of(50))
    assert folders.newest(tmp_path).name == "step-00000050"


def test_what_a_lost_start_left_half_is_not_mixed_with_the_next(folders: ModuleType, tmp_path: Path) -> None:
    (folders.begin(tmp_path, 50, "1-0") / "of the lost node").write_text("half")
    assert [path.name for path in save(folders, tmp_path, 50, "1-1").iterdir()] == ["part"]


def test_a_step_that_an_earlier_start_saved_already_stays_as_it_is(folders: ModuleType, tmp_path: Path) -> None:
    first = save(folders, tmp_path, 50, "1-0")
    (first / "mark").touch()
    assert (save(folders, tmp_path, 50, "1-1") / "mark").exists()
    assert not list(tmp_path.glob("*.partial"))


def test_pruning_leaves_the_newest_and_nothing_half(folders: ModuleType, tmp_path: Path) -> None:
    for step in (25, 50, 75):
        save(folders, tmp_path, step)
    folders.begin(tmp_path, 100, "1-0")
    folders.prune(tmp_path, keep=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["latest", "step-00000050", "step-00000075"]


def test_a_checkpoint_that_cannot_be_published_is_an_error(folders: ModuleType, tmp_path: Path) -> None:
    partial = folders.begin(tmp_path, 50, "1-0")
    (tmp_path / folders.name_of(50)).write_text("a file in the way")
    with pytest.raises(OSError, match="step-00000050"):
        folders.publish(partial, 50)
