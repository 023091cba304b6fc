"""Check that /fsx is mounted and writable."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.precheck.check_result import CheckResult, failed, passed, skipped

if TYPE_CHECKING:
    from hyperpod_node.precheck.checked_node import CheckedNode

NAME = "/fsx"
FSX = Path("/fsx")
TIMEOUT_S = 20


def check(node: CheckedNode) -> CheckResult:
    """Find the mount, then write a file: a mounted file system may not respond."""
    if not node.facts.file_system:
        return skipped("no file system is configured")
    mount = next((mount for mount in reversed(node.mounts()) if mount.path == FSX), None)
    if mount is None:
        return failed(
            "/fsx is not mounted",
            "sudo mount /fsx; if that fails, check /etc/fstab and ports 988 and 1018-1023 in the node's security group",
        )
    folder = writable_folder(node)
    if folder is None:
        return passed(f"{mount.source} ({mount.kind}); write test skipped: this user has no writable folder there")
    try:
        write(node, folder)
    except (NodeError, OSError) as error:
        return failed(
            f"/fsx is mounted, but writing a file in {folder} fails: {error}",
            "look for a full file system with `lfs df -h /fsx`, and for connection errors with `sudo dmesg | grep -i lustre`",
        )
    return passed(f"{mount.source} ({mount.kind}), writable")


def writable_folder(node: CheckedNode) -> Path | None:
    """Return a folder in /fsx that this user can write to: the home, or /fsx itself."""
    home = Path(os.environ.get("HOME", "/"))
    folders = [home] if FSX in home.parents else []
    return next((folder for folder in [*folders, FSX] if os.access(node.system.path(folder), os.W_OK)), None)


def write(node: CheckedNode, folder: Path) -> None:
    """Write one block to the servers, with a timeout: on a dead mount the write never returns."""
    probe = node.system.path(folder) / f".hyperpod-precheck-{secrets.token_hex(8)}"
    node.system.run(
        "dd", "if=/dev/zero", f"of={probe}", "bs=4096", "count=1", "conv=excl,fsync", "status=none", timeout_s=TIMEOUT_S
    )
    probe.unlink()
