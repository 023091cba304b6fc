"""Refuse to read clusters/ while tests run: the files there belong to the user, who may edit, rename or delete them."""

import os
import sys
from typing import Any

from tests import cluster_files

EVENTS = ("open", "os.listdir", "os.scandir")
USERS = str(cluster_files.PROJECT / "clusters")


class UsersFileError(AssertionError):
    """A test that depends on a file of the user's."""


def guard() -> None:
    """Refuse it from now on, in this process."""
    sys.addaudithook(_refuse)


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in EVENTS or not isinstance(arguments[0], str | bytes | os.PathLike):
        return
    path = os.path.abspath(os.fsdecode(arguments[0]))  # noqa: PTH100 - runs at every open of a file; a Path is ten times as slow
    # A folder that is opened is not read by that, and may be another one of this name: the event does not tell of `dir_fd`.
    if path.startswith(USERS + os.sep) or (path == USERS and event != "open"):
        where = os.environ.get("PYTEST_CURRENT_TEST", "the import of a test module")
        raise UsersFileError(f"{where} reads {path}, which belongs to the user; use tests/cluster_files.py")
