"""The people of a cluster file: users and groups with the same ids on every node."""

from typing import Annotated

from pydantic import StrictBool, StrictInt, StringConstraints

from config.section import Change, Section, setting

# What useradd takes: its manual page, useradd(8), under CAVEATS.
AccountName = Annotated[str, StringConstraints(pattern="^[a-z_][a-z0-9_-]{0,31}$")]

SshPublicKey = Annotated[
    str,
    StringConstraints(
        pattern=r"^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)|sk-(ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com) "
        r"[A-Za-z0-9+/]{40,}={0,2}( [^\r\n]*)?$",
        max_length=8192,
    ),
]

# 1000 is ubuntu's on HyperPod's images; what lies above the last is not a uid on every system.
FIRST_ID, LAST_ID = 1001, 2147483646


class UserGroup(Section):
    """A POSIX group with the same gid on every node."""

    name: AccountName = setting("its name", Change.NEW_NODES)
    gid: StrictInt = setting(
        "its number, 10000 or above unless another system gave it one already", Change.NEW_NODES, ge=FIRST_ID, le=LAST_ID
    )


class User(Section):
    """A POSIX user with the same uid and the same home on every node, and a group of its own with the same name and number."""

    name: AccountName = setting("its name", Change.NEW_NODES)
    uid: StrictInt = setting(
        "its number, 10000 or above unless another system gave it one already; its files carry it, so it must never change",
        Change.NEW_NODES,
        ge=FIRST_ID,
        le=LAST_ID,
    )
    groups: tuple[AccountName, ...] = setting("names of `user_groups` that it is in", Change.NEW_NODES, (), max_length=100)
    ssh_public_keys: tuple[SshPublicKey, ...] = setting(
        "the public keys that it may log in with, each as its line in a `.pub` file", Change.NEW_NODES, (), max_length=50
    )
    sudo: StrictBool = setting("let it become root on every node, without a password", Change.NEW_NODES, default=False)
