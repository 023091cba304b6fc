"""Whether container data lies on a fast local disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.precheck.result import Result, failed, passed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hyperpod_node.precheck.machine import Machine


def judge(machine: Machine, what: str, folder: Path, remedy: Callable[[Path], str]) -> Result:
    """Pass where ``folder`` is on a local disk, or where the node has none; ``remedy`` is told the disk to use."""
    disks = machine.local_disks()
    mount = machine.mount_of(folder)
    if mount and mount.path in disks:
        return passed(f"{what} {folder} is on {mount.path}")
    if mount and mount.kind == "tmpfs":
        return failed(f"{what} {folder} is in memory (tmpfs)", remedy(disks[0] if disks else folder))
    if disks:
        return failed(f"{what} {folder} is on {mount.path if mount else 'no mount'}, not on {disks[0]}", remedy(disks[0]))
    return passed(f"{what} {folder} is on the root disk: this node has no other local disk")
