"""Create the groups and users of the cluster file, with the same ids and homes on all nodes."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node import homes
from hyperpod_node.accounts import ADMINISTRATOR, Account
from hyperpod_node.errors import NodeError
from hyperpod_node.managed_file import put_sudo_rules
from hyperpod_node.node_settings import Group
from hyperpod_node.steps import removed_users

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from hyperpod_node.accounts import Accounts
    from hyperpod_node.context import Context
    from hyperpod_node.node_settings import NodeSettings, User
    from hyperpod_node.system import System

SUDOERS = Path("/etc/sudoers.d/hyperpod-users")


def apply(context: Context, system: System) -> None:
    """Check all accounts before any change, then create those that are missing."""
    settings = context.settings
    folder = homes.folder(context)
    users = [Account(user.name, user.uid, user.uid, folder / user.name) for user in settings.users]
    _require_possible(settings, users, system)
    for group in _desired_groups(settings):
        if not system.accounts.group(group.name):
            system.run("groupadd", "--gid", str(group.gid), group.name)
    for user, account in zip(settings.users, users, strict=True):
        _create_user(account, system)
        _join_groups(user, settings, system)
        homes.create(account, node=context.node.name, system=system)
    _write_sudoers(settings, system)
    removed_users.lock([user.name for user in settings.users], system)
    if homes.shared(context.parameters):
        _share_home_of_administrator(folder, context.node.name, system)
    else:
        print(f"homes stay in {folder} on this node's own disk: the cluster file has no file system")


def _require_possible(settings: NodeSettings, users: list[Account], system: System) -> None:
    problems = _conflicts(settings, system.accounts)
    for user in users:
        if (owner := homes.owner(user.home, system)) not in (None, user.uid):
            problems.append(f"{user.home} belongs to uid {owner}, and {user.name} has {user.uid} in the cluster file")
    if problems:
        raise NodeError(f"no account was changed: {'; '.join(problems)}")


def _desired_groups(settings: NodeSettings) -> list[Group]:
    """Return the groups of the cluster file and the primary group of each user."""
    return [*settings.groups, *(Group(user.name, user.uid) for user in settings.users)]


def _conflicts(settings: NodeSettings, accounts: Accounts) -> list[str]:
    """Return why the cluster file's accounts cannot be created on this node."""
    return [*_in_file(settings), *_existing_groups(settings, accounts), *_existing_users(settings, accounts)]


def _in_file(settings: NodeSettings) -> list[str]:
    groups = _desired_groups(settings)
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
    for group in _desired_groups(settings):
        if (existing := accounts.group(group.name)) and existing.gid != group.gid:
            found.append(f"group {group.name} has gid {existing.gid} on this node and {group.gid} in the cluster file")
        if (existing := accounts.group(group.gid)) and existing.name != group.name:
            found.append(f"gid {group.gid} of group {group.name} belongs to group {existing.name} on this node")
    return found


def _existing_users(settings: NodeSettings, accounts: Accounts) -> list[str]:
    found = []
    names = {group.name for group in _desired_groups(settings)}
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


def _create_user(account: Account, system: System) -> None:
    existing = system.accounts.user(account.name)
    home = str(account.home)
    removed_users.unlock(account.name, system)
    if not existing:
        ids = ("--uid", str(account.uid), "--gid", str(account.gid))
        system.run("useradd", *ids, "--home-dir", home, "--no-create-home", "--shell", "/bin/bash", account.name)
    elif existing.home != account.home:
        system.run("usermod", "--home", home, account.name)


def _join_groups(user: User, settings: NodeSettings, system: System) -> None:
    """Add the user to its groups, and remove it from the cluster file's other groups."""
    for name in dict.fromkeys((*user.groups, *(group.name for group in settings.groups))):
        group = system.accounts.group(name)
        is_member = group is not None and user.name in group.members
        if is_member != (name in user.groups):
            system.run("gpasswd", "--delete" if is_member else "--add", user.name, name)


def _write_sudoers(settings: NodeSettings, system: System) -> None:
    """Write the sudo rules of the cluster file; no password is asked, because no user has one."""
    rules = [f"{user.name} ALL=(ALL) NOPASSWD:ALL" for user in settings.users if user.sudo]
    content = "\n".join(["# Written by the lifecycle scripts from the cluster file.", *rules]) + "\n"
    put_sudo_rules(system.path(SUDOERS), content, system)


def _share_home_of_administrator(folder: Path, node: str, system: System) -> None:
    """Move the home of the AMI's own user to the shared file system, as jobs and ssh need; its local files stay."""
    if not (existing := system.accounts.user(ADMINISTRATOR)):
        return
    account = Account(ADMINISTRATOR, existing.uid, existing.gid, folder / ADMINISTRATOR)
    try:
        homes.create(account, node=node, system=system)
        _create_user(account, system)
    except NodeError as error:  # usermod refuses while the user is logged in; that must not fail the node
        print(f"warning: {ADMINISTRATOR}'s home stays {existing.home}: {error}")
