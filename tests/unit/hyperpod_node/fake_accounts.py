"""A node's accounts, and the programs that change them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from hyperpod_node.accounts import Account, Accounts, NodeGroup
from hyperpod_node.errors import NodeError
from tests.unit.hyperpod_node.recorded_run import RecordedRun


@dataclass
class FakeAccounts(Accounts):
    users: list[Account] = field(default_factory=list)
    groups: list[NodeGroup] = field(default_factory=list)
    directory: list[Account] = field(default_factory=list)  # of SSSD

    def user(self, name_or_uid: str | int) -> Account | None:
        return next((user for user in (*self.users, *self.directory) if name_or_uid in (user.name, user.uid)), None)

    def is_local(self, name: str) -> bool:
        return any(user.name == name for user in self.users)

    def group(self, name_or_gid: str | int) -> NodeGroup | None:
        return next((group for group in self.groups if name_or_gid in (group.name, group.gid)), None)

    def programs(self) -> RecordedRun:
        """Programs that act on these accounts as the real ones do on a node's."""
        return RecordedRun(
            {
                "groupadd": self._groupadd,
                "useradd": self._useradd,
                "usermod": self._usermod,
                "userdel": self._userdel,
                "gpasswd": self._gpasswd,
                "getent": self._getent,
            }
        )

    def _groupadd(self, arguments: tuple[str, ...], stdin: str | None) -> str:
        _, gid, name = arguments
        self.groups.append(NodeGroup(name, int(gid), ()))
        return ""

    def _useradd(self, arguments: tuple[str, ...], stdin: str | None) -> str:
        options = dict(pairwise(arguments))
        self.users.append(Account(arguments[-1], int(options["--uid"]), int(options["--gid"]), Path(options["--home-dir"])))
        return ""

    def _usermod(self, arguments: tuple[str, ...], stdin: str | None) -> str:
        name, home = arguments[-1], dict(pairwise(arguments)).get("--home")
        if home is None:
            return ""
        self.users = [replace(user, home=Path(home)) if user.name == name else user for user in self.users]
        return ""

    def _userdel(self, arguments: tuple[str, ...], stdin: str | None) -> str:
        self.users = [user for user in self.users if user.name != arguments[-1]]
        return ""

    def _getent(self, arguments: tuple[str, ...], stdin: str | None) -> str:
        if arguments[:2] == ("--service=sss", "passwd") and all(user.name != arguments[2] for user in self.directory):
            raise NodeError("`getent` ended with status 2: no output")
        return ""

    def _gpasswd(self, arguments: tuple[str, ...], stdin: str | None) -> str:
        what, name, group = arguments
        there = self.group(group)
        assert there is not None
        members = (*there.members, name) if what == "--add" else tuple(member for member in there.members if member != name)
        self.groups[self.groups.index(there)] = replace(there, members=members)
        return ""
