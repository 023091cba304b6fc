import os
from pathlib import Path

import pytest

from local_aws.nodes.registry import LIMITS, Entry, Registry
from local_aws.process_start import born

INOTIFY, NEIGHBOURS = LIMITS


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    for name in LIMITS:
        (tmp_path / "kernel" / name).parent.mkdir(parents=True)
        (tmp_path / "kernel" / name).write_text("128\n")
    return tmp_path / "kernel"


@pytest.fixture
def registry(tmp_path: Path, kernel: Path) -> Registry:
    return Registry(tmp_path / "registry", kernel)


def entry(name: str) -> Entry:
    return Entry(f"/folder/{name}", f"hyperpod-cdk-{name}", os.getpid(), born(os.getpid()))


def add(registry: Registry, name: str) -> None:
    with registry.lock():
        registry.add(entry(name))


def remove(registry: Registry, name: str) -> None:
    with registry.lock():
        registry.remove(entry(name))


def limits(kernel: Path) -> list[int]:
    return [int((kernel / name).read_text()) for name in LIMITS]


def test_limits_are_raised_for_the_first_hub_and_set_back_after_the_last(registry: Registry, kernel: Path) -> None:
    add(registry, "a")
    add(registry, "b")
    remove(registry, "a")
    assert limits(kernel) == list(LIMITS.values())

    remove(registry, "b")

    assert limits(kernel) == [128, 128]


def test_a_limit_that_is_high_enough_is_unchanged(registry: Registry, kernel: Path) -> None:
    (kernel / INOTIFY).write_text("99999")

    add(registry, "a")
    assert (kernel / INOTIFY).read_text() == "99999"
    remove(registry, "a")

    assert limits(kernel) == [99999, 128]


def test_limits_are_set_back_to_what_they_were_before_a_killed_run(registry: Registry, kernel: Path, tmp_path: Path) -> None:
    add(registry, "killed")
    (kernel / NEIGHBOURS).write_text("128")  # somebody else's doing meanwhile
    later = Registry(tmp_path / "registry", kernel)
    add(later, "b")

    remove(later, "killed")
    remove(later, "b")

    assert limits(kernel) == [128, 128]


def test_hubs_are_found_again_by_another_process(registry: Registry, tmp_path: Path, kernel: Path) -> None:
    add(registry, "a")

    assert Registry(tmp_path / "registry", kernel).entries() == [entry("a")]


def test_a_hub_that_another_process_removes_while_they_are_listed_is_left_out(registry: Registry, tmp_path: Path) -> None:
    add(registry, "a")
    (tmp_path / "registry" / "gone.hub").symlink_to("removed")  # listed, and gone when it is read

    assert registry.entries() == [entry("a")]


def test_a_hub_lives_as_long_as_its_guardian() -> None:
    assert entry("a").lives
    assert not Entry("/folder", "x", os.getpid(), "another process's time").lives
    assert not Entry("/folder", "x", 2**22 + 1, born(os.getpid())).lives


def test_there_are_no_hubs_unless_one_was_started(tmp_path: Path) -> None:
    assert Registry(tmp_path / "none").entries() == []


def test_a_limit_that_a_network_namespace_hides_is_unchanged_there_and_restored_outside(
    registry: Registry, kernel: Path, tmp_path: Path
) -> None:
    seen = registry
    add(seen, "a")
    inside = Registry(tmp_path / "registry", tmp_path / "inside")
    (tmp_path / "inside" / INOTIFY).parent.mkdir(parents=True)
    (tmp_path / "inside" / INOTIFY).write_text("16384")
    add(inside, "b")
    remove(seen, "a")
    remove(inside, "b")  # the last one does not see the machine's network
    assert limits(kernel)[1] == LIMITS[NEIGHBOURS]

    add(seen, "c")
    remove(seen, "c")
    assert limits(kernel)[1] == 128
