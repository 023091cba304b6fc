"""Rules about users and groups."""

import base64
import binascii
from collections.abc import Iterable, Iterator

from config.errors import Level, Path, Problem
from config.model import ClusterConfig
from config.reserved_names import NOBODYS_IDS, is_reserved, is_systemds
from config.suggestions import nearest
from validation.entries import numbered
from validation.rules.registry import rule

# Unless another system gave them one already: what useradd gives by itself begins at 1000.
FIRST_OF_PEOPLE = 10000

Named = tuple[Path, str]
Numbered = tuple[Path, int]


def _names(config: ClusterConfig) -> Iterator[Named]:
    """Every name of a group: a user has one of its own."""
    yield from (((("user_groups", index, "name")), group.name) for index, group in numbered(config.user_groups))
    yield from (((("users", index, "name")), user.name) for index, user in numbered(config.users))


def _ids(config: ClusterConfig) -> Iterator[Numbered]:
    """Every gid: the group of a user's own has the user's number."""
    yield from (((("user_groups", index, "gid")), group.gid) for index, group in numbered(config.user_groups))
    yield from (((("users", index, "uid")), user.uid) for index, user in numbered(config.users))


def _repeated(found: Iterable[tuple[Path, str | int]]) -> Iterator[tuple[Path, str | int, str]]:
    """What stands twice, with the name of the place where it stood first."""
    first: dict[str | int, Path] = {}
    for path, value in found:
        if first.setdefault(value, path) != path:
            section, index, _ = first[value]
            yield path, value, f"{section}[{index}]"


@rule("unique-account-names", "users[]", "user_groups[]")
def unique_account_names(config: ClusterConfig) -> Iterator[Problem]:
    """No two users and no two groups have one name; each user has a group of its own name as well.

    A node has one account of a name: the second one fails, and with it the set-up of every node.
    """
    for path, value, first in _repeated(_names(config)):
        own = ", which has a group of that name" if first.startswith("users") != (path[0] == "users") else ""
        yield Problem(path, value, f"is the name of {first} too{own}; choose another")


@rule("unique-account-ids", "users[]", "user_groups[]")
def unique_account_ids(config: ClusterConfig) -> Iterator[Problem]:
    """No two users and no two groups have one number; each user has a group of its own number as well.

    Two people of one number own each other's files.
    """
    taken = {number for _, number in _ids(config)}
    free = next(number for number in range(10001, 60000) if number not in taken)
    for path, value, first in _repeated(_ids(config)):
        own = ", as a user's number is that of its own group, too" if path[0] != first.partition("[")[0] else ""
        yield Problem(path, value, f"is the number of {first}{own}; use e.g. {free}")


@rule("free-account-names", "users[]", "user_groups[]")
def free_account_names(config: ClusterConfig) -> Iterator[Problem]:
    """Users and groups have no name that a node's own accounts have (root, ubuntu, slurm, munge, mysql, systemd-...).

    The node's own account is there first, with another number: no node is set up, or a person has a service's rights.
    """
    for path, name in _names(config):
        if is_reserved(name):
            yield Problem(path, name, "is an account that nodes have already, or a service's; choose another name")


@rule("free-account-ids", "users[]", "user_groups[]")
def free_account_ids(config: ClusterConfig) -> Iterator[Problem]:
    """Users and groups do not have the numbers 65534 and 65535, which are nobody's.

    The node has an account of the first one, which owns what nobody does, and the second one stands for no user.
    """
    for path, number in _ids(config):
        if number in NOBODYS_IDS:
            yield Problem(path, number, "is nobody's number on every node; use one from 10000 to 60000, or from 65536 on")


@rule("numbers-of-systemd", "users[]", "user_groups[]", level=Level.WARNING)
def numbers_of_systemd(config: ClusterConfig) -> Iterator[Problem]:
    """Users and groups have no number from 60001 to 60577 or from 61184 to 65519, which systemd gives to users and services.

    It may give the number to a service at any time, which then owns the person's files.
    """
    for path, number in _ids(config):
        if is_systemds(number):
            message = "systemd may give it to a service of its own; use one from 10000 to 60000, or silence this"
            yield Problem(path, number, message)


@rule("numbers-of-people", "users[]", "user_groups[]", level=Level.WARNING)
def numbers_of_people(config: ClusterConfig) -> Iterator[Problem]:
    """Users and groups have numbers from 10000 on.

    Those below are what `useradd` gives to accounts that are made on a node by hand or by a package, and these would then own the
    person's files.
    """
    for path, number in _ids(config):
        if number < FIRST_OF_PEOPLE:
            yield Problem(path, number, "a node may give it to another account; use one from 10000 on, or silence this")


@rule("groups-of-users", "users[]", "user_groups")
def groups_of_users(config: ClusterConfig) -> Iterator[Problem]:
    """A user's groups are among `user_groups`.

    Nobody can join a group that is not there: it fails on every node, and with it the node's set-up.
    """
    known = [group.name for group in config.user_groups]
    for index, user in numbered(config.users):
        for at, name in enumerate(user.groups):
            path = ("users", index, "groups", at)
            if name in user.groups[:at]:
                continue  # named-once tells
            if name == user.name:
                yield Problem(path, name, f"is {user.name}'s own group, which every user has; remove it")
            elif name in ("sudo", "admin", "wheel"):
                yield Problem(path, name, "is not given by a group; set `sudo: true` instead")
            elif name not in known and is_reserved(name):
                yield Problem(
                    path, name, "is a group of the nodes' own; remove it, and add the user in a script of lifecycle.extra"
                )
            elif name not in known:
                yield Problem(path, name, f"is none of `user_groups`; {nearest(name, known) if known else _add(name)}")


def _add(name: str) -> str:
    return f"add it there: {{name: {name}, gid: 20001}}"


@rule("ssh-public-keys", "users[]")
def ssh_public_keys(config: ClusterConfig) -> Iterator[Problem]:
    """A user's public keys are whole.

    sshd passes over a key that is cut, without a word: the user cannot log in, and nobody sees why.
    """
    for index, user in numbered(config.users):
        for at, key in enumerate(user.ssh_public_keys):
            path = ("users", index, "ssh_public_keys", at)
            kind, body = key.split(" ")[:2]
            if not _is_whole(kind, body):
                yield Problem(path, key, f"is no whole {kind} key; copy the line of the .pub file again")


@rule("named-once", "users[]", level=Level.WARNING)
def named_once(config: ClusterConfig) -> Iterator[Problem]:
    """A user's groups and public keys stand once each.

    One of the two is probably another one, which the user does not get.
    """
    for index, user in numbered(config.users):
        keys = [key.split(" ")[1] for key in user.ssh_public_keys]
        for field, values in (("groups", list(user.groups)), ("ssh_public_keys", keys)):
            for at, value in enumerate(values):
                if value in values[:at]:
                    yield Problem(("users", index, field, at), getattr(user, field)[at], "stands twice; keep it once")


def _is_whole(kind: str, body: str) -> bool:
    """Tell whether the key's own text says that it is of this kind, and is as long as its parts say.

    https://www.rfc-editor.org/rfc/rfc4253#section-6.6: parts that each begin with their length, the first being the kind.
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
