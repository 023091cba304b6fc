"""Home folders: where they are, and how one node creates each for all nodes."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError

if TYPE_CHECKING:
    from hyperpod_node.accounts import Account
    from hyperpod_node.context import Context
    from hyperpod_node.provisioning_parameters import ProvisioningParameters
    from hyperpod_node.system import System

LOCAL = Path("/home")
SKELETON = Path("/etc/skel")
MODE = 0o750  # the group is the user's own


def folder(context: Context) -> Path:
    """Return the folder of all homes; /home is on OpenZFS if the cluster has it, and on the node's own disk otherwise."""
    parameters = context.parameters
    return context.settings.homes if parameters.fsx_dns_name and not parameters.fsx_openzfs_dns_name else LOCAL


def shared(parameters: ProvisioningParameters) -> bool:
    """Return whether homes are on a shared file system."""
    return bool(parameters.fsx_dns_name or parameters.fsx_openzfs_dns_name)


def owner(home: Path, system: System) -> int | None:
    """Return the uid that owns ``home``, or None if it does not exist."""
    try:
        return system.path(home).lstat().st_uid
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NodeError(f"{home}: cannot read its owner: {error.strerror}") from None


def create(account: Account, *, node: str, system: System, mode: int = MODE) -> bool:
    """Create a home if it does not exist; return whether this node created it.

    The home is prepared under another name and renamed: if several nodes create it at once, one succeeds and no node sees an
    incomplete home.
    """
    if owner(account.home, system) is not None:
        return False
    home = system.path(account.home)
    prepared = home.with_name(f".{home.name}.{node}")
    try:
        home.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        shutil.rmtree(prepared, ignore_errors=True)  # left by a node that died while it prepared one
        _prepare(prepared, account, system.path(SKELETON), mode)
        prepared.rename(home)
    except OSError as error:
        shutil.rmtree(prepared, ignore_errors=True)
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            return False
        raise NodeError(f"{account.home}: cannot create it for uid {account.uid}: {error.strerror}{_fix(error)}") from None
    return True


def _prepare(folder: Path, account: Account, skeleton: Path, mode: int) -> None:
    """Copy the skeleton and give every file to the new owner."""
    if skeleton.is_dir():
        shutil.copytree(skeleton, folder, symlinks=True)
    else:
        folder.mkdir()
    folder.chmod(mode)
    for path in (*folder.rglob("*"), folder):
        os.chown(path, account.uid, account.gid, follow_symlinks=False)


def _fix(error: OSError) -> str:
    return "; set no_root_squash on the file system's export" if error.errno in (errno.EPERM, errno.EACCES) else ""
