"""Define users and groups, with the same ids on every node."""

from typing import Annotated

from pydantic import StrictBool, StrictInt, StringConstraints

from config.section import Change, Section, setting

# The names that useradd accepts: useradd(8), CAVEATS.
AccountName = Annotated[str, StringConstraints(pattern="^[a-z_][a-z0-9_-]{0,31}$")]

SshPublicKey = Annotated[
    str,
    StringConstraints(
        pattern=r"^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)|sk-(ssh-ed25519|ecdsa-sha2-nistp256)@openssh\.com) "
        r"[A-Za-z0-9+/]{40,}={0,2}( [^\r\n]*)?$",
        max_length=8192,
    ),
]

# 1000 is ubuntu on HyperPod's images; not every system supports larger ids.
FIRST_ID, LAST_ID = 1001, 2147483646


class UserGroup(Section):
    """A POSIX group with the same gid on every node."""

    name: AccountName = setting("group name", Change.RUNNING_NODES)
    gid: StrictInt = setting("group id, 10000 or higher unless it exists elsewhere", Change.NEW_NODES, ge=FIRST_ID, le=LAST_ID)


class User(Section):
    """A POSIX user with the same uid and home on every node, and a group with the same name and id."""

    name: AccountName = setting("user name", Change.RUNNING_NODES)
    uid: StrictInt = setting(
        "user id, 10000 or higher unless it exists elsewhere; must not change, as files are owned by id",
        Change.NEW_NODES,
        ge=FIRST_ID,
        le=LAST_ID,
    )
    groups: tuple[AccountName, ...] = setting(
        "names of the user's groups in `user_groups`", Change.RUNNING_NODES, (), max_length=100
    )
    ssh_public_keys: tuple[SshPublicKey, ...] = setting(
        "public keys for SSH, each a line of a `.pub` file", Change.RUNNING_NODES, (), max_length=50
    )
    sudo: StrictBool = setting("allow sudo on every node, without a password", Change.RUNNING_NODES, default=False)
