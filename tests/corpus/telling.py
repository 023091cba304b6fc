"""What `./hpod validate` says of a case's file, in the folder of a user who has nothing else."""

from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

from cli.cluster_folder import CLUSTERS
from cli.result import failed
from cli.validate import validate
from config.errors import ConfigError
from tests.corpus.case import BASES, Case

FOLDER = "clusters"


def laid(case: Case, folder: Path) -> list[str]:
    """The paths of the files to validate, which now lie in the folder with all that they name."""
    (folder / FOLDER).mkdir()
    names = [case.file, *case.settings("and as")]
    for name in names:
        (folder / FOLDER / name).write_bytes(case.source())
    for name in case.settings("beside"):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("#!/bin/bash\n")
    for link in case.settings("link"):
        name, _, target = link.partition(" -> ")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(target)
    return [f"{FOLDER}/{name}" for name in case.settings("asked for") or names]


def told(case: Case, folder: Path) -> tuple[str, ...]:
    """The lines that the command prints, and its exit status."""
    return _printed(laid(case, folder), folder)


def told_of_base(base: str, folder: Path) -> tuple[str, ...]:
    """The same of a good file."""
    file = folder / f"{base}.yaml"
    file.write_text((BASES / file.name).read_text(encoding="utf-8"))
    return _printed([file.name], folder)


def _printed(files: list[str], folder: Path) -> tuple[str, ...]:
    with chdir(folder):
        return tuple(line for text in _said(files) for line in text.splitlines())


def _said(files: list[str]) -> Iterator[str]:
    """What cli/__main__.py prints, which takes as long again to read its arguments; a test compares."""
    try:
        result = validate(clusters=CLUSTERS, files=files)
    except ConfigError as error:
        result = failed(error)
    yield str(result)
    yield result.failure
    yield f"exit status {int(bool(result.failure))}"
