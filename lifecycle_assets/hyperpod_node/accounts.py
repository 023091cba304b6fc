"""The POSIX accounts of a node."""

from __future__ import annotations

import grp
import pwd
from dataclasses import dataclass
from pathlib import Path

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
