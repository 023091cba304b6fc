"""A build is whole or absent, and is repeated only if its inputs changed."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from local_aws.builds import cache as cached
from local_aws.builds import sources
from local_aws.kubernetes import machine
from local_aws.kubernetes.errors import KubernetesError
from local_aws.kubernetes.programs import build, store

ROOT = Path(__file__).parents[4]
MAKES = 'echo "I: building it"; mkdir "$1/made"; echo "${@:2}" >"$1/made/programs"; echo >>"$(dirname "$1")/runs"'
# Runs a build in a process of its own, with the recipe in a folder.
BUILDS = """
import sys
from pathlib import Path
from local_aws.kubernetes import machine
from local_aws.kubernetes.programs import build, store
from local_aws.builds import sources
store.RECIPE = Path(sys.argv[1])
machine.missing_for_building = lambda: []
sources.own_targets = lambda: ["http://debian bookworm main"]
sources.is_signed = lambda source: True
build.build(store.CONTROL_PLANE, lambda text: print(text, flush=True))
"""


class Recipe:
    """Scripts instead of the real ones."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.write(MAKES)
        self.write("echo input 1", "inputs.sh")

    def write(self, text: str, name: str = "build.sh") -> None:
        (self.folder / name).write_text(f"#!/bin/bash\nset -e\n{text}\n")
        (self.folder / name).chmod(0o755)


@pytest.fixture
def recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recipe:
    made = Recipe(tmp_path / "recipe")
    monkeypatch.setattr(store, "RECIPE", made.folder)
    monkeypatch.setattr(machine, "missing_for_building", list)
    monkeypatch.setattr(sources, "own_targets", lambda: ["http://debian bookworm main"])
    monkeypatch.setattr(sources, "is_signed", lambda source: True)
    return made


def run() -> tuple[Path, list[str]]:
    lines: list[str] = []
    return build.build(store.CONTROL_PLANE, lines.append), lines


def test_the_same_inputs_are_built_once(recipe: Recipe, cache: Path) -> None:
    first, lines = run()
    second, _ = run()

    assert first == second == store.find(store.CONTROL_PLANE)
    assert (first / "programs").read_text().split() == list(store.CONTROL_PLANE.programs)
    assert (first / "inputs").read_text() == "input 1\n"
    assert len((cache / "runs").read_text().splitlines()) == 1
    assert [line.split(maxsplit=2)[2] for line in lines if line.startswith("  ")] == ["building it", "done"]


def test_a_new_package_is_a_new_build(recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    first, _ = run()
    monkeypatch.setattr(build, "_inputs", lambda programs, part: "input 2\n")
    second, _ = run()

    assert first != second
    assert store.find(store.CONTROL_PLANE) == second
    assert (second / "inputs").read_text() == "input 2\n"


def test_a_build_that_fails_leaves_nothing_and_shows_the_end_of_its_log(recipe: Recipe, cache: Path) -> None:
    recipe.write('mkdir "$1/made"; echo no space; exit 3')
    with pytest.raises(KubernetesError, match=r"(?s)build.sh ended with status 3; the end of .*build\.log:\nno space"):
        run()
    assert store.find(store.CONTROL_PLANE) is None
    assert sorted(path.name for path in cache.iterdir()) == ["build.log", "lock"]


def test_a_killed_build_leaves_no_process_and_nothing_that_looks_finished(recipe: Recipe, cache: Path) -> None:
    recipe.write('mkdir "$1/made"; echo "I: $$"; sleep 600')
    command = [sys.executable, "-c", BUILDS, str(recipe.folder)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        script = next(int(line.split()[-1]) for line in owner.stdout if line.startswith("  "))
        owner.kill()

    end = time.monotonic() + 10
    while _lives(script):
        assert time.monotonic() < end
        time.sleep(0.02)
    assert [path for path in cache.iterdir() if path.name.endswith(cached.PART)]
    assert store.find(store.CONTROL_PLANE) is None
    recipe.write(MAKES)
    built, _ = run()
    assert sorted(path.name for path in cache.iterdir() if path.is_dir()) == [built.name]


def test_a_second_build_waits_and_takes_what_the_first_one_built(recipe: Recipe, cache: Path) -> None:
    said, found = threading.Event(), list[Path]()
    second = threading.Thread(target=lambda: found.append(build.build(store.CONTROL_PLANE, lambda _: said.set())))
    cache.mkdir(parents=True)
    with cached.lock(lambda: None, cache / "lock"):
        second.start()
        assert said.wait(10)
        finished = store.build_of(store.CONTROL_PLANE, "input 1\n")
        finished.mkdir()
    second.join(10)

    assert found == [finished]
    assert not (cache / "runs").exists()


def test_a_build_that_was_not_used_for_long_is_removed(recipe: Recipe, cache: Path) -> None:
    unused, used = (cache / f"control-plane-{name}" for name in ("unused", "used"))
    for folder in (unused, used):
        folder.mkdir(parents=True)
        store.note_use(folder)
    long_ago = time.time() - (cached.KEPT_DAYS + 1) * 86400
    os.utime(cache / "control-plane-unused.used", (long_ago, long_ago))

    run()

    assert (unused.exists(), used.exists()) == (False, True)


def test_without_a_network_the_last_build_is_kept(recipe: Recipe) -> None:
    built, _ = run()
    recipe.write("echo no route >&2; exit 100", "inputs.sh")
    with pytest.raises(KubernetesError, match="no route"):
        run()  # another recipe, of which there is no build
    recipe_of = store.build_of(store.CONTROL_PLANE, "input 1\n")
    built.rename(recipe_of)

    kept, lines = run()

    assert kept == recipe_of
    assert "no route" in lines[-1]


def test_a_machine_without_the_release_is_refused(recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "is_signed", lambda source: False)
    with pytest.raises(KubernetesError, match="Debian bookworm's packages, but no reachable apt source"):
        run()


def test_a_full_disk_is_refused_before_the_build(recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build, "_NEEDED_GIB", 1 << 40)
    with pytest.raises(KubernetesError, match="GiB free, a build needs"):
        run()


def _lives(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
