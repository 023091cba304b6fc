"""Work in a home is the user's own, in a process of its own."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hyperpod_node.accounts import Account
from hyperpod_node.as_user import as_user
from hyperpod_node.errors import NodeError

# Root can become anybody; anybody else only what it is already.
UID = os.getuid() or 65534
GID = os.getgid() or 65534


@pytest.fixture
def nobody() -> Iterator[Account]:
    with tempfile.TemporaryDirectory() as home:  # pytest's own folders are closed to other users
        os.chown(home, UID, GID)
        yield Account("nobody", UID, GID, Path(home))


def test_files_belong_to_the_user_and_are_private(nobody: Account) -> None:
    as_user(nobody, (nobody.home / "file").touch)
    there = (nobody.home / "file").stat()
    assert (there.st_uid, there.st_gid, there.st_mode & 0o777) == (UID, GID, 0o600)


def test_root_s_rights_do_not_come_along(nobody: Account) -> None:
    secret = nobody.home / "secret"
    secret.write_text("root's own")
    secret.chmod(0)
    with pytest.raises(NodeError, match=rf"{secret}: Permission denied"):
        as_user(nobody, lambda: print(secret.read_text()))


def test_the_result_of_the_work_is_returned(nobody: Account) -> None:
    def work() -> None:
        raise NodeError("no room")

    with pytest.raises(NodeError, match=r"^no room$"):
        as_user(nobody, work)


def test_work_that_dies_is_reported(nobody: Account) -> None:
    with pytest.raises(NodeError, match=rf"work in {nobody.home} ended with status 3"):
        as_user(nobody, lambda: os._exit(3))


def test_work_that_hangs_on_what_a_user_put_there_is_given_up(nobody: Account) -> None:
    os.mkfifo(nobody.home / "authorized_keys")
    started = time.monotonic()
    with pytest.raises(NodeError, match=r"did not end within 0\.3 s"):
        as_user(nobody, lambda: print((nobody.home / "authorized_keys").read_text()), timeout_s=0.3)
    assert time.monotonic() - started < 30
