"""Lock the users that were removed from the cluster file: no login, no sudo, no groups, no keys. Their homes stay."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.json_file import load_object
from hyperpod_node.managed_file import put
from hyperpod_node.slurm.daemon import STARTED_WITH
from hyperpod_node.steps import ssh

if TYPE_CHECKING:
    from hyperpod_node.system import System

FILE = STARTED_WITH / "users.json"
# An expired account refuses each way to log in, also by a key that the user added.
LOCK = ("--groups", "", "--expiredate", "1", "--shell", "/usr/sbin/nologin")
DIRECTORY_S = 10  # SSSD may not be connected yet
UNLOCK = ("--expiredate", "", "--shell", "/bin/bash")


def lock(users: list[str], system: System) -> None:
    """Lock the users that an earlier cluster file had and ``users`` does not have; remember both."""
    known, locked = _load(system)
    for name in sorted(known - {*users}):
        _lock(name, system)
        print(f"locked {name}, which is no longer in the cluster file; the home stays")
    _save({*users}, (known | locked) - {*users}, system)


def leave_to_directory(system: System) -> None:
    """Delete the account of each locked user that the directory has, which the local account would hide; the home stays."""
    known, locked = _load(system)
    local = {name for name in locked if system.accounts.is_local(name)}

    def is_in_directory(name: str) -> bool:
        return system.succeeds("getent", "--service=sss", "passwd", name, timeout_s=DIRECTORY_S)

    def delete() -> None:
        for name in sorted(filter(is_in_directory, local)):
            system.run("userdel", "--force", name)  # also while the user has processes, which continue
            local.remove(name)
            print(f"deleted the local account of {name}, who is now a user of the directory; the home stays")
        if local:
            raise NodeError(f"SSSD does not find {', '.join(sorted(local))}")

    try:
        system.retry("removed users in the directory", delete, DIRECTORY_S)
    except NodeError as error:
        print(f"removed users stay locked: {error}")
    _save(known, {name for name in locked if name in local}, system)


def unlock(name: str, system: System) -> None:
    """Unlock a user that is in the cluster file again."""
    known, locked = _load(system)
    if name in locked:
        system.run("usermod", *UNLOCK, name)
        _save(known, locked - {name}, system)


def _lock(name: str, system: System) -> None:
    account = system.accounts.user(name)
    if account is None or not system.accounts.is_local(name):
        return
    system.run("usermod", *LOCK, name)
    try:
        system.as_user(account, partial(ssh.remove_keys, system.path(account.home / ".ssh")))
    except NodeError as error:  # the account is locked without it
        print(f"warning: the keys of {name} stay in {account.home}: {error}")


def _load(system: System) -> tuple[set[str], set[str]]:
    """Return the users of the last cluster file, and those that are locked."""
    file = system.path(FILE)
    content = load_object(file) if file.exists() else {}
    return set(content.get("users", ())), set(content.get("locked", ()))


def _save(users: set[str], locked: set[str], system: System) -> None:
    put(system.path(FILE), json.dumps({"users": sorted(users), "locked": sorted(locked)}) + "\n")
