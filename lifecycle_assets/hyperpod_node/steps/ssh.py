"""Let each user go from node to node by ssh without a password, and log in with the keys of the cluster file."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node import homes
from hyperpod_node.accounts import ADMINISTRATOR
from hyperpod_node.errors import NodeError
from hyperpod_node.managed_file import put

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hyperpod_node.context import Context
    from hyperpod_node.shell import Run
    from hyperpod_node.system import System

BEGIN = "# begin: written by the lifecycle scripts from the cluster file"
END = "# end: written by the lifecycle scripts"
CLIENT = Path("/etc/ssh/ssh_config.d/hyperpod.conf")


def apply(context: Context, system: System) -> None:
    """Trust the cluster's hosts, and give each user one key for all nodes."""
    put(system.path(CLIENT), client_settings(instance.address for instance in context.cluster.instances))
    is_shared = homes.shared(context.parameters)
    keys = {user.name: user.ssh_public_keys for user in context.settings.users} | ({ADMINISTRATOR: ()} if is_shared else {})
    for name, public_keys in keys.items():
        if not (account := system.accounts.user(name)):
            continue
        comment = f"{name}@{context.cluster.cluster_name}" if is_shared else None
        try:
            folder = system.path(account.home / ".ssh")
            system.as_user(account, partial(set_up, folder, public_keys, comment, context.node.name, system.run))
        except NodeError as error:  # a user's changes to a shared home must not fail every new node
            print(f"warning: no ssh between nodes for {name}: {error}")


def client_settings(addresses: Iterable[str]) -> str:
    """Return the configuration of the ssh client for hosts of this network."""
    networks = sorted({tuple(address.split(".")[:2]) for address in addresses})
    hosts = " ".join(f"ip-{a}-{b}-* {a}.{b}.*" for a, b in networks)
    return f"""# Written by the lifecycle scripts.
# A job cannot confirm a new node's host key, so the key is accepted. It is not stored: nodes are replaced, and every
# connection to an address that is reused with another key would fail. The patterns match more than the cluster: host keys
# of other machines at these addresses are not checked either. The VPC protects the connection: it drops packets with a
# forged source address.
Host {hosts}
    StrictHostKeyChecking accept-new
    UserKnownHostsFile /dev/null
    LogLevel ERROR
"""


def set_up(folder: Path, public_keys: tuple[str, ...], comment: str | None, node: str, run: Run) -> None:
    """Allow ``public_keys`` and, if ``comment`` is given, a key of the user's own for ssh between nodes."""
    folder.mkdir(mode=0o700, exist_ok=True)
    allowed = [*public_keys, *([_own_public_key(folder, comment, node, run)] if comment else [])]
    file = folder / "authorized_keys"
    if file.exists() and not file.is_file():
        raise NodeError(f"{file} is not a regular file")
    content = file.read_text(errors="surrogateescape") if file.exists() else ""
    put(file, with_block(content, allowed), mode=0o600)


def remove_keys(folder: Path) -> None:
    """Remove all keys that these scripts allowed."""
    file = folder / "authorized_keys"
    if file.is_file():
        put(file, with_block(file.read_text(errors="surrogateescape"), []), mode=0o600)


def with_block(content: str, keys: list[str]) -> str:
    """Return ``content`` with ``keys`` between our two comments, and the rest unchanged."""
    before, begin, rest = content.partition(f"{BEGIN}\n")
    _, end, after = rest.partition(f"{END}\n")
    if begin and not end:  # the second comment was deleted: keep all that follows
        after = rest
    if before and not before.endswith("\n"):
        before += "\n"
    return "".join([before, f"{BEGIN}\n", *(f"{key}\n" for key in keys), f"{END}\n", after])


def _own_public_key(folder: Path, comment: str, node: str, run: Run) -> str:
    """Return the user's public key; the first node creates the key pair."""
    key = folder / "id_ed25519"
    if not key.exists():
        new = folder / f".id_ed25519.{node}"
        new.unlink(missing_ok=True)
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", str(new))
        try:
            os.link(new, key)  # unlike a rename, it fails if another node was first
        except FileExistsError:
            pass
        finally:
            new.unlink()
            new.with_name(f"{new.name}.pub").unlink()
    public = folder / "id_ed25519.pub"
    if not public.exists():
        put(public, run("ssh-keygen", "-y", "-f", str(key)))
    return public.read_text().strip()
