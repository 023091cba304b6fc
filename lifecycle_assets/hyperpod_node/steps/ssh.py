"""Lets each user go from node to node by ssh without a password, and log in by the keys of the cluster file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node import homes
from hyperpod_node.accounts import ACCOUNTS, ADMINISTRATOR, Account, Accounts
from hyperpod_node.as_user import as_user
from hyperpod_node.errors import NodeError
from hyperpod_node.managed_file import put
from hyperpod_node.shell import Run, run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from hyperpod_node.context import Context

BEGIN = "# begin: written by the lifecycle scripts from the cluster file"
END = "# end: written by the lifecycle scripts"


@dataclass(frozen=True)
class System:
    """Where a node keeps what ssh needs."""

    client: Path = Path("/etc/ssh/ssh_config.d/hyperpod.conf")
    accounts: Accounts = ACCOUNTS
    as_user: Callable[[Account, Callable[[], None]], None] = as_user
    run: Run = run


SYSTEM = System()


def apply(context: Context, system: System = SYSTEM) -> None:
    """Trust the cluster's hosts, and give each user one key for all nodes."""
    put(system.client, client_settings(instance.address for instance in context.cluster.instances))
    is_shared = homes.shared(context.parameters)
    keys = {user.name: user.ssh_public_keys for user in context.settings.users} | ({ADMINISTRATOR: ()} if is_shared else {})
    for name, public_keys in keys.items():
        if not (account := system.accounts.user(name)):
            continue
        comment = f"{name}@{context.node.cluster_name}" if is_shared else None
        try:
            system.as_user(account, partial(set_up, account.home / ".ssh", public_keys, comment, context.node.name, system.run))
        except NodeError as error:  # what a user did to a home that all nodes share must not end every new node
            print(f"warning: no ssh between nodes for {name}: {error}")


def client_settings(addresses: Iterable[str]) -> str:
    """The settings of ssh for hosts of this network."""
    networks = sorted({tuple(address.split(".")[:2]) for address in addresses})
    hosts = " ".join(f"ip-{a}-{b}-* {a}.{b}.*" for a, b in networks)
    return f"""# Written by the lifecycle scripts.
# A job cannot answer a question about a new node's host key, so it is accepted. It is not remembered either: nodes are
# replaced, and an address that comes again with another key would end every connection to it with an error. The patterns are
# wider than the cluster: whatever else your network has at these addresses is not checked by its key either. What protects
# the connection is that a VPC delivers no packets with a borrowed address.
Host {hosts}
    StrictHostKeyChecking accept-new
    UserKnownHostsFile /dev/null
    LogLevel ERROR
"""


def set_up(folder: Path, public_keys: tuple[str, ...], comment: str | None, node: str, run: Run) -> None:
    """Allow ``public_keys`` and, where ``comment`` names it, a key of the user's own for going from node to node."""
    folder.mkdir(mode=0o700, exist_ok=True)
    allowed = [*public_keys, *([_own_public_key(folder, comment, node, run)] if comment else [])]
    file = folder / "authorized_keys"
    if file.exists() and not file.is_file():
        raise NodeError(f"{file} is no regular file")
    content = file.read_text(errors="surrogateescape") if file.exists() else ""
    put(file, with_block(content, allowed), mode=0o600)


def with_block(content: str, keys: list[str]) -> str:
    """``content`` with ``keys`` between our two comments, and all else as it was."""
    before, begin, rest = content.partition(f"{BEGIN}\n")
    _, end, after = rest.partition(f"{END}\n")
    if begin and not end:  # somebody took the second comment away: none of what follows may be lost
        after = rest
    if before and not before.endswith("\n"):
        before += "\n"
    return "".join([before, f"{BEGIN}\n", *(f"{key}\n" for key in keys), f"{END}\n", after])


def _own_public_key(folder: Path, comment: str, node: str, run: Run) -> str:
    """The public half of the user's key, which the first of all nodes makes."""
    key = folder / "id_ed25519"
    if not key.exists():
        new = folder / f".id_ed25519.{node}"
        new.unlink(missing_ok=True)
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(new))
        try:
            os.link(new, key)  # unlike a rename, it fails where another node was first
        except FileExistsError:
            pass
        finally:
            new.unlink()
            new.with_name(f"{new.name}.pub").unlink()
    public = folder / "id_ed25519.pub"
    if not public.exists():
        put(public, run("ssh-keygen", "-y", "-f", str(key)))
    return public.read_text().strip()
