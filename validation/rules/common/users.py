"""Check users and groups."""

import base64
import binascii
from collections.abc import Iterator

from config.entries import numbered, repeated
from config.errors import Level, Path, Problem, dotted
from config.model import ClusterConfig
from config.suggestions import nearest
from validation.rules.registry import rule

# useradd assigns ids from 1000.
FIRST_SAFE_ID = 10000

# From Debian's and Ubuntu's base-passwd, the packages on HyperPod's images, and their default user ubuntu.
_SYSTEM_NAMES = """
root daemon bin sys sync games man lp mail news uucp proxy www-data backup list irc gnats _apt nobody
adm tty disk dialout fax voice cdrom floppy tape sudo audio dip operator src shadow utmp video sasl plugdev staff users
nogroup input kvm render sgx crontab lxd netdev admin wheel
messagebus dbus polkitd syslog uuidd tcpdump landscape fwupd-refresh pollinate rtkit tss usbmux dnsmasq _chrony sshd _ssh sssd
ubuntu ec2-user ssm-user ec2-instance-connect ssl-cert
slurm slurmrest munge mysql mariadb docker nvidia-persistenced statd _rpc
"""
_RESERVED = frozenset(_SYSTEM_NAMES.split())

# https://systemd.io/UIDS-GIDS/: the account `nobody`, and the invalid 16-bit id.
NOBODY_IDS = (65534, 65535)
# The same page: systemd-homed, its containers, and dynamic users of services.
_OF_SYSTEMD = (range(60001, 60578), range(61184, 65520))

Named = tuple[Path, str]
Numbered = tuple[Path, int]


def _names(config: ClusterConfig) -> Iterator[Named]:
    """Yield every group name; each user has a group of the same name."""
    yield from (((("user_groups", index, "name")), group.name) for index, group in numbered(config.user_groups))
    yield from (((("users", index, "name")), user.name) for index, user in numbered(config.users))


def _ids(config: ClusterConfig) -> Iterator[Numbered]:
    """Yield every gid; each user's group has the user's uid."""
    yield from (((("user_groups", index, "gid")), group.gid) for index, group in numbered(config.user_groups))
    yield from (((("users", index, "uid")), user.uid) for index, user in numbered(config.users))


def _used_by(first: Path, path: Path, what: str) -> str:
    """Return the message for a value at ``path`` that the entry of ``first`` has."""
    own = f", as each user has a group with the same {what}" if first[0] != path[0] else ""
    return f"already used by {dotted(first[:2])}{own}"


@rule("unique-account-names", "users[]", "user_groups[]")
def unique_account_names(config: ClusterConfig) -> Iterator[Problem]:
    """User and group names must be unique; each user also has a group of the same name.

    A node cannot create a second account of a name: the setup of every node fails.
    """
    for path, name, first in repeated(_names(config)):
        yield Problem(path, name, _used_by(first, path, "name"), "use another name")


@rule("unique-account-ids", "users[]", "user_groups[]")
def unique_account_ids(config: ClusterConfig) -> Iterator[Problem]:
    """Uids and gids must be unique; each user also has a group with the same number.

    Users with the same uid own each other's files.
    """
    taken = {number for _, number in _ids(config)}
    free = next(number for number in range(10001, 60000) if number not in taken)
    for path, number, first in repeated(_ids(config)):
        yield Problem(path, number, _used_by(first, path, "id"), f"use e.g. {free}")


@rule("reserved-account-names", "users[]", "user_groups[]")
def reserved_account_names(config: ClusterConfig) -> Iterator[Problem]:
    """Users and groups must not have the name of a system account (root, ubuntu, slurm, munge, mysql, systemd-...).

    The system account already exists with another id: the node's setup fails, or the user gets a service's permissions.
    """
    for path, name in _names(config):
        if _is_reserved(name):
            yield Problem(path, name, "reserved for a system account", "use another name")


@rule("reserved-account-ids", "users[]", "user_groups[]")
def reserved_account_ids(config: ClusterConfig) -> Iterator[Problem]:
    """Uids and gids must not be 65534 or 65535.

    65534 is the account `nobody`, and 65535 means no user.
    """
    for path, number in _ids(config):
        if number in NOBODY_IDS:
            yield Problem(path, number, "reserved for `nobody`", "use a number from 10000 to 60000, or from 65536")


@rule("systemd-uid-range", "users[]", "user_groups[]", level=Level.WARNING)
def systemd_uid_range(config: ClusterConfig) -> Iterator[Problem]:
    """Uids and gids should not be in systemd's ranges, 60001 to 60577 and 61184 to 65519.

    systemd can assign such a number to a service at any time, which then owns the user's files.
    """
    for path, number in _ids(config):
        if any(number in numbers for numbers in _OF_SYSTEMD):
            message = "systemd can assign this number to a service"
            yield Problem(path, number, message, "use a number from 10000 to 60000, or suppress this warning")


@rule("uid-range", "users[]", "user_groups[]", level=Level.WARNING)
def uid_range(config: ClusterConfig) -> Iterator[Problem]:
    """Uids and gids should be 10000 or higher.

    `useradd` assigns lower numbers to accounts created on a node, which would then own the user's files.
    """
    for path, number in _ids(config):
        if number < FIRST_SAFE_ID:
            yield Problem(
                path, number, "a node can assign this number to another account", "use 10000 or higher, or suppress this warning"
            )


@rule("unknown-user-groups", "users[]", "user_groups")
def unknown_user_groups(config: ClusterConfig) -> Iterator[Problem]:
    """A user's groups must be defined in `user_groups`.

    Adding a user to an unknown group fails on every node, and with it the node's setup.
    """
    known = [group.name for group in config.user_groups]
    for index, user in numbered(config.users):
        for at, name in enumerate(user.groups):
            path = ("users", index, "groups", at)
            if name in user.groups[:at]:
                continue  # duplicate-user-entries reports it
            if name == user.name:
                yield Problem(path, name, f"is {user.name}'s own group, which is created automatically", "remove it")
            elif name in ("sudo", "admin", "wheel"):
                yield Problem(path, name, "does not grant sudo", "set `sudo: true` instead")
            elif name not in known and _is_reserved(name):
                yield Problem(path, name, "is a system group", "remove it, and add the user in a script of lifecycle.extra")
            elif name not in known:
                yield Problem(path, name, "unknown group", nearest(name, known) if known else _add(name))


def _add(name: str) -> str:
    return f"add it to `user_groups`: {{name: {name}, gid: 20001}}"


@rule("ssh-public-keys", "users[]")
def ssh_public_keys(config: ClusterConfig) -> Iterator[Problem]:
    """A user's public keys must be complete.

    sshd ignores a truncated key without a message, and the user cannot log in.
    """
    for index, user in numbered(config.users):
        for at, key in enumerate(user.ssh_public_keys):
            path = ("users", index, "ssh_public_keys", at)
            kind, body = key.split(" ")[:2]
            if not _is_whole(kind, body):
                yield Problem(path, key, f"incomplete {kind} key", "copy the whole line of the .pub file")


@rule("duplicate-user-entries", "users[]", level=Level.WARNING)
def duplicate_user_entries(config: ClusterConfig) -> Iterator[Problem]:
    """A user's groups and public keys must not contain duplicates.

    A duplicate probably replaces another entry, which the user then lacks.
    """
    for index, user in numbered(config.users):
        keys = [key.split(" ")[1] for key in user.ssh_public_keys]
        for field, values in (("groups", list(user.groups)), ("ssh_public_keys", keys)):
            for at, _, _ in repeated(enumerate(values)):
                yield Problem(("users", index, field, at), getattr(user, field)[at], "duplicate", "remove it")


def _is_whole(kind: str, body: str) -> bool:
    """Return whether the encoded key has this kind and the length of its parts.

    https://www.rfc-editor.org/rfc/rfc4253#section-6.6: each part starts with its length, and the first part is the kind.
    """
    try:
        rest = base64.b64decode(body, validate=True)
    except binascii.Error:
        return False
    parts: list[bytes] = []
    while rest:
        length = int.from_bytes(rest[:4], "big")
        part, rest = rest[4 : 4 + length], rest[4 + length :]
        if len(part) != length:
            return False
        parts.append(part)
    return len(parts) > 1 and parts[0] == kind.encode()


def _is_reserved(name: str) -> bool:
    """Return whether nodes can have a system user or group with this name."""
    return name in _RESERVED or name.startswith("systemd-")
