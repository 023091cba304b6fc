"""Where homes are, and how one is made once for all nodes."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError

if TYPE_CHECKING:
    from hyperpod_node.accounts import Account
    from hyperpod_node.provisioning_parameters import ProvisioningParameters

LOCAL = Path("/home")
ON_LUSTRE = Path("/fsx/home")
SKELETON = Path("/etc/skel")
MODE = 0o750


def folder(parameters: ProvisioningParameters) -> Path:
    """The folder of all homes: OpenZFS is mounted at /home; without a file system that is the node's own disk."""
    return ON_LUSTRE if parameters.fsx_dns_name and not parameters.fsx_openzfs_dns_name else LOCAL


def shared(parameters: ProvisioningParameters) -> bool:
    """Whether all nodes see the same homes."""
    return bool(parameters.fsx_dns_name or parameters.fsx_openzfs_dns_name)


def owner(home: Path) -> int | None:
    """The uid that a home belongs to, if it is there."""
    try:
        return home.lstat().st_uid
    except FileNotFoundError:
        return None
    except OSError as error:
        raise NodeError(f"{home} cannot be looked at: {error.strerror}") from None


def create(account: Account, *, node: str, skeleton: Path = SKELETON) -> bool:
    """Make a home, and tell whether it was this node that made it; a home that is there stays as it is.

    It is prepared under another name and renamed, so that of many nodes one wins and none sees half a home.
    """
    home = account.home
    if owner(home) is not None:
        return False
    prepared = home.with_name(f".{home.name}.{node}")
    try:
        home.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        shutil.rmtree(prepared, ignore_errors=True)  # left by a node that died in the middle
        _prepare(prepared, account, skeleton)
        prepared.rename(home)
    except OSError as error:
        shutil.rmtree(prepared, ignore_errors=True)
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            return False
        raise NodeError(f"{home} cannot be made for uid {account.uid}: {error.strerror}{_remedy(error)}") from None
    return True


def _prepare(folder: Path, account: Account, skeleton: Path) -> None:
    """Copy the skeleton, file by file under the new owner."""
    if skeleton.is_dir():
        shutil.copytree(skeleton, folder, symlinks=True)
    else:
        folder.mkdir()
    folder.chmod(MODE)
    for path in (*folder.rglob("*"), folder):
        os.chown(path, account.uid, account.gid, follow_symlinks=False)


def _remedy(error: OSError) -> str:
    return "; does the file system's export have no_root_squash?" if error.errno in (errno.EPERM, errno.EACCES) else ""
