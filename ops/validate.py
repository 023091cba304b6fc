"""`python -m ops validate`: all that is wrong with cluster files, without Node, the CDK or credentials."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from config.checked_file import CheckedFile
from config.errors import ConfigError
from config.load import check_clusters, check_files
from config.report import FORMATS, counted
from ops.errors import OpsError


def options(command: argparse.ArgumentParser) -> None:
    """Add what the command takes beside the folder."""
    command.add_argument("files", nargs="*", metavar="CLUSTER|FILE", help="name of a cluster file, or its path; all without it")
    command.add_argument("--format", choices=FORMATS, default="text", help="for whom: text (a terminal), json, github, sarif")


def validate(clusters: Path, files: Sequence[str], format: str) -> Iterator[str]:
    """What there is to say of the files, in the format; then an OpsError that counts the errors, if there are any."""
    checked = _checked(clusters, files)
    said = FORMATS[format](checked)
    if said:
        yield said
    if any(file.errors for file in checked):
        raise OpsError(counted(checked))
    if format == "text":
        yield counted(checked)


def _checked(folder: Path, named: Sequence[str]) -> tuple[CheckedFile, ...]:
    """The files that are named, by their path or by their cluster's name, or all of the folder."""
    if not named:
        return _of_folder(folder, None)
    if all(map(_is_path, named)):
        return check_files(map(Path, named))
    return tuple(file for name in named for file in (check_files([Path(name)]) if _is_path(name) else _of_folder(folder, name)))


def _is_path(name: str) -> bool:
    if "/" in name and Path(name).is_dir():
        raise OpsError(f"{name} is a folder, and a file or a cluster's name is wanted; give --clusters {name}")
    return name.endswith((".yaml", ".yml")) or "/" in name


def _of_folder(folder: Path, only: str | None) -> tuple[CheckedFile, ...]:
    """The folder's files; that there are none, or that they cannot be had, is a problem of the folder like any other."""
    try:
        return check_clusters(folder, only)
    except ConfigError as error:
        return tuple(CheckedFile(name, None, problems) for name, problems in error.problems.items())
