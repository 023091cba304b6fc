import os
import shutil
import threading
import time
from pathlib import Path

import pytest

from local_aws.builds import cache
from local_aws.builds.errors import HostError
from local_aws.nodes import setup
from local_aws.nodes.image import build, store

SCRIPT = "mkdir $1/made; touch $1/made/file; mount -t tmpfs x /mnt; "


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    cache.place().mkdir()


@pytest.fixture
def image() -> Path:
    return store.image_of("trixie")


def make(image: Path, script: str) -> list[str]:
    lines: list[str] = []
    build.make(image, ["bash", "-c", SCRIPT + script, "builder"], ["package"], lines.append)
    return lines


def test_an_image_gets_its_name_when_it_is_complete_and_reports_its_progress(image: Path) -> None:
    lines = make(image, 'echo "I: downloading $3..."; echo other; echo "$2" >$1/made/cache')

    assert [line.split(maxsplit=2)[2] for line in lines] == ["downloading package", "done"]
    assert (image / "cache").read_text().strip() == str(cache.place() / "packages")
    assert [path.name for path in image.parent.iterdir()] == [image.name]


def test_a_build_that_fails_leaves_nothing_and_shows_the_end_of_its_log(image: Path) -> None:
    with pytest.raises(HostError, match=r"(?s)bash ended with status 3; the end of .*build\.log:\nno space"):
        make(image, "echo no space; exit 3")

    assert list(image.parent.iterdir()) == []
    assert store.find() is None


def test_what_a_killed_build_left_is_not_in_the_next_ones_way(image: Path) -> None:
    half = image.with_name(f"{image.name}.part") / "made"
    half.mkdir(parents=True)
    (half / "half").touch()

    make(image, "")

    assert [path.name for path in image.iterdir()] == ["file"]


def test_a_build_mounts_nothing_that_others_see(image: Path) -> None:
    make(image, "")

    assert f"{image}" not in Path("/proc/self/mounts").read_text()
    assert not os.path.ismount("/mnt")


def test_a_second_build_waits_and_takes_what_the_first_one_built(image: Path) -> None:
    told, found = threading.Event(), list[Path]()
    second = threading.Thread(target=lambda: found.append(build.build(lambda _: told.set())))
    with cache.lock(lambda: None):
        second.start()
        assert told.wait(30)
        make(image, "")
    second.join(30)

    assert found == [image]


def test_an_image_that_was_not_used_for_long_is_dropped(image: Path) -> None:
    old, recent = image.with_name("trixie-old"), image.with_name("trixie-recent")
    for folder in (old, recent):
        folder.mkdir(parents=True)
        store.note_use(folder)
    long_ago = time.time() - (cache.KEPT_DAYS + 1) * 86400
    os.utime(old.with_name("trixie-old.used"), (long_ago, long_ago))

    assert cache.unused(cache.place() / "images") == [old]


def test_an_image_on_which_a_layer_is_built_is_in_use(image: Path) -> None:
    make(image, "")
    cache.note(image)
    long_ago = time.time() - (cache.KEPT_DAYS + 1) * 86400
    os.utime(image.with_name(f"{image.name}.used"), (long_ago, long_ago))

    build.build(print)

    assert cache.unused(cache.place() / "images") == []


def test_a_killed_deletion_leaves_nothing_that_looks_like_an_image(image: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(image, "")

    def killed(folder: Path, **_: bool) -> None:
        if folder.exists():
            raise KeyboardInterrupt

    with monkeypatch.context() as during:
        during.setattr(shutil, "rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            cache.discard(image)

    assert store.find() is None
    cache.remove_parts(image.parent)
    assert list(image.parent.iterdir()) == []
    make(image, "")
    assert store.find() == image


def test_a_builder_ends_with_the_build_that_was_interrupted(image: Path) -> None:
    def interrupt(_: str) -> None:
        raise KeyboardInterrupt

    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        build.make(image, ["bash", "-c", "echo I: downloading x; sleep 60; mkdir $1/made", "builder"], [], interrupt)

    assert time.monotonic() - begun < 30
    assert list(image.parent.iterdir()) == []


def test_all_that_nodes_need_here_is_installed() -> None:
    assert setup.missing_packages() == []
