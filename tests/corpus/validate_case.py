"""Run `./hpod validate` for a case in an empty folder."""

import shutil
from collections.abc import Iterator
from contextlib import chdir, nullcontext
from pathlib import Path

from cli.cluster_folder import CLUSTERS
from cli.result import failed
from cli.validate import validate
from config.errors import ConfigError
from tests.corpus.case import BASES, Case
from tests.helm import path_with_helm

FOLDER = "clusters"
CHARTS = Path(__file__).parents[1] / "data" / "charts"


def write_files(case: Case, folder: Path) -> list[str]:
    """Write the case's files to the folder, and return the paths to validate."""
    (folder / FOLDER).mkdir()
    names = [case.file, *case.settings("copy")]
    for name in names:
        (folder / FOLDER / name).write_bytes(case.source())
    for name in case.settings("script"):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#!/bin/bash\n")
    for link in case.settings("link"):
        name, _, target = link.partition(" -> ")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(target)
    for name in case.settings("chart"):
        shutil.copytree(CHARTS / name, folder / CHARTS.name / name)
    return [f"{FOLDER}/{name}" for name in case.settings("validate") or names]


def output_of(case: Case, folder: Path) -> tuple[str, ...]:
    """Return the output of the command, with its exit status."""
    with path_with_helm() if case.settings("chart") else nullcontext():
        return _run(write_files(case, folder), folder)


def output_of_base(base: str, folder: Path) -> tuple[str, ...]:
    """Return the output for a valid file."""
    file = folder / f"{base}.yaml"
    file.write_text((BASES / file.name).read_text(encoding="utf-8"))
    return _run([file.name], folder)


def _run(files: list[str], folder: Path) -> tuple[str, ...]:
    with chdir(folder):
        return tuple(line for text in _lines(files) for line in text.splitlines())


def _lines(files: list[str]) -> Iterator[str]:
    """Yield the output of cli/__main__.py without its slow argument parser; a test compares both."""
    try:
        result = validate(clusters=CLUSTERS, files=files)
    except ConfigError as error:
        result = failed(error)
    yield str(result)
    yield result.failure
    yield f"exit status {int(bool(result.failure))}"
