"""Check that container data is on a fast local disk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.precheck.check_result import CheckResult, failed, passed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hyperpod_node.precheck.checked_node import CheckedNode


def check_folder(node: CheckedNode, what: str, folder: Path, fix: Callable[[Path], str]) -> CheckResult:
    """Pass if ``folder`` is on a local disk, or if the node has none; ``fix`` returns how to use a given disk."""
    disks = node.local_disks()
    mount = node.mount_of(folder)
    if mount and mount.path in disks:
        return passed(f"{what} {folder} is on {mount.path}")
    if mount and mount.kind == "tmpfs":
        return failed(f"{what} {folder} is in memory (tmpfs)", fix(disks[0] if disks else folder))
    if disks:
        return failed(f"{what} {folder} is on {mount.path if mount else 'no mount'}, not on {disks[0]}", fix(disks[0]))
    return passed(f"{what} {folder} is on the root disk: this node has no other local disk")
