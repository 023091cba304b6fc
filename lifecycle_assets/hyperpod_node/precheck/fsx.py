"""/fsx is mounted and can be written: jobs, homes and checkpoints lie there."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.precheck.result import Result, failed, passed, skipped

if TYPE_CHECKING:
    from hyperpod_node.precheck.machine import Machine

NAME = "/fsx"
FSX = Path("/fsx")
LIMIT_S = 20


def check(machine: Machine) -> Result:
    """Find the mount, then write a file: a file system may be mounted and dead."""
    if not machine.facts.file_system:
        return skipped("no file system is configured")
    mount = next((mount for mount in reversed(machine.mounts()) if mount.path == FSX), None)
    if mount is None:
        return failed(
            "/fsx is not mounted",
            "sudo mount /fsx; its line in /etc/fstab and the node's security group (ports 988 and 1018 to 1023) decide",
        )
    folder = writable_folder(machine)
    if folder is None:
        return passed(f"{mount.source} ({mount.kind}); not written to, as this user owns no folder in it")
    try:
        write(machine, folder)
    except (NodeError, OSError) as error:
        return failed(
            f"/fsx is mounted but a file in {folder} cannot be written: {error}",
            "see `lfs df -h /fsx` for a full one and `sudo dmesg | grep -i lustre` for one that cannot be reached",
        )
    return passed(f"{mount.source} ({mount.kind}), written to")


def writable_folder(machine: Machine) -> Path | None:
    """Where this user may write below /fsx: their home, or /fsx itself."""
    home = Path(os.environ.get("HOME", "/"))
    folders = [home] if FSX in home.parents else []
    return next((folder for folder in [*folders, FSX] if os.access(machine.root / folder.relative_to("/"), os.W_OK)), None)


def write(machine: Machine, folder: Path) -> None:
    """Write one block through to the servers, within a time limit: on a dead mount it would never return."""
    probe = machine.root / folder.relative_to("/") / f".hyperpod-precheck-{secrets.token_hex(8)}"
    machine.run("dd", "if=/dev/zero", f"of={probe}", "bs=4096", "count=1", "conv=excl,fsync", "status=none", timeout_s=LIMIT_S)
    probe.unlink()
