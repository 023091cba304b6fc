"""The POSIX accounts of a node, and their conflicts with those of the cluster file."""

from __future__ import annotations

import grp
import pwd
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.node_settings import Group

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from hyperpod_node.node_settings import NodeSettings

ADMINISTRATOR = "ubuntu"  # the AMI's own user
PASSWD = Path("/etc/passwd")


@dataclass(frozen=True)
class Account:
    """A user, as the owner of files."""

    name: str
    uid: int
    gid: int
    home: Path


@dataclass(frozen=True)
class NodeGroup:
    """A group of this node and its members."""

    name: str
    gid: int
    members: tuple[str, ...]


class Accounts:
    """The accounts that the node knows, from its own files or a directory service."""

    def user(self, name_or_uid: str | int) -> Account | None:
        """Return the user with this name or uid."""
        try:
            found = pwd.getpwuid(name_or_uid) if isinstance(name_or_uid, int) else pwd.getpwnam(name_or_uid)
        except KeyError:
            return None
        return Account(found.pw_name, found.pw_uid, found.pw_gid, Path(found.pw_dir))

    def is_local(self, name: str) -> bool:
        """Return whether the node's own file has the user; a directory service may have it, too."""
        return any(line.startswith(f"{name}:") for line in PASSWD.read_text(errors="replace").splitlines())

    def group(self, name_or_gid: str | int) -> NodeGroup | None:
        """Return the group with this name or gid."""
        try:
            found = grp.getgrgid(name_or_gid) if isinstance(name_or_gid, int) else grp.getgrnam(name_or_gid)
        except KeyError:
            return None
        return NodeGroup(found.gr_name, found.gr_gid, tuple(found.gr_mem))


ACCOUNTS = Accounts()


def desired_groups(settings: NodeSettings) -> list[Group]:
    """Return the groups of the cluster file and the primary group of each user."""
    return [*settings.groups, *(Group(user.name, user.uid) for user in settings.users)]


def conflicts(settings: NodeSettings, accounts: Accounts) -> list[str]:
    """Return why the cluster file's accounts cannot be created on this node."""
    return [*_in_file(settings), *_existing_groups(settings, accounts), *_existing_users(settings, accounts)]


def _in_file(settings: NodeSettings) -> list[str]:
    groups = desired_groups(settings)
    return [
        *_duplicates("users", "name", (user.name for user in settings.users)),
        *_duplicates("users", "uid", (user.uid for user in settings.users)),
        *_duplicates("groups", "name", (group.name for group in groups)),
        *_duplicates("groups", "gid", (group.gid for group in groups)),
    ]


def _duplicates(kind: str, field: str, values: Iterable[Hashable]) -> list[str]:
    own = " (each user has a group of its name with its uid)" if kind == "groups" else ""
    return [
        f"{count} {kind} in the cluster file have {field} {value}{own}" for value, count in Counter(values).items() if count > 1
    ]


def _existing_groups(settings: NodeSettings, accounts: Accounts) -> list[str]:
    found = []
    for group in desired_groups(settings):
        if (existing := accounts.group(group.name)) and existing.gid != group.gid:
            found.append(f"group {group.name} has gid {existing.gid} on this node and {group.gid} in the cluster file")
        if (existing := accounts.group(group.gid)) and existing.name != group.name:
            found.append(f"gid {group.gid} of group {group.name} belongs to group {existing.name} on this node")
    return found


def _existing_users(settings: NodeSettings, accounts: Accounts) -> list[str]:
    found = []
    names = {group.name for group in desired_groups(settings)}
    for user in settings.users:
        if (existing := accounts.user(user.name)) and (existing.uid, existing.gid) != (user.uid, user.uid):
            found.append(
                f"user {user.name} has uid {existing.uid} and gid {existing.gid} on this node and {user.uid} in the cluster file"
            )
        if (existing := accounts.user(user.uid)) and existing.name != user.name:
            found.append(f"uid {user.uid} of user {user.name} belongs to user {existing.name} on this node")
        unknown = [name for name in user.groups if name not in names and not accounts.group(name)]
        found += [f"group {name} of user {user.name} is neither in the cluster file nor on this node" for name in unknown]
    return found
