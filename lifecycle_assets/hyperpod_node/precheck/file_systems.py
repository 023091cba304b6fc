"""Check that /fsx is mounted and writable, and that homes are on a shared file system."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.precheck.check_result import CheckResult, failed, passed, skipped

if TYPE_CHECKING:
    from hyperpod_node.precheck.checked_node import CheckedNode

FSX, HOME = Path("/fsx"), Path("/home")
TIMEOUT_S = 20


def fsx(node: CheckedNode) -> CheckResult:
    """Find the mount, then write a file: a mounted file system may not respond."""
    if not node.facts.file_system:
        return skipped("no file system is configured")
    mount = next((mount for mount in reversed(node.mounts()) if mount.path == FSX), None)
    if mount is None:
        return failed(
            "/fsx is not mounted",
            "sudo mount /fsx; if that fails, check /etc/fstab and ports 988 and 1018-1023 in the node's security group",
        )
    folder = _writable_folder(node)
    if folder is None:
        return passed(f"{mount.source} ({mount.kind}); write test skipped: this user has no writable folder there")
    try:
        _write(node, folder)
    except (NodeError, OSError) as error:
        return failed(
            f"/fsx is mounted, but writing a file in {folder} fails: {error}",
            "look for a full file system with `lfs df -h /fsx`, and for connection errors with `sudo dmesg | grep -i lustre`",
        )
    return passed(f"{mount.source} ({mount.kind}), writable")


def user_homes(node: CheckedNode) -> CheckResult:
    """Look up each user of the cluster file and the AMI's own, and the location of the home."""
    if node.facts.homes is None:
        return skipped("no file system is configured, so homes are local")
    if not node.facts.users:
        return skipped("the cluster file names no users")
    mounted = {mount.path for mount in node.mounts()}
    if Path(node.facts.homes) == HOME and HOME not in mounted:
        return failed(
            "/home is not mounted", "sudo mount /home; if that fails, check /etc/fstab and port 2049 of the file system"
        )
    if Path(node.facts.homes).is_relative_to(FSX) and FSX not in mounted:
        return skipped("/fsx is not mounted: fix that first")
    problems = [problem for user in node.facts.users if (problem := _home_problem(node, user, node.facts.homes))]
    if problems:
        return failed("; ".join(message for message, _ in problems), "; ".join(dict.fromkeys(fix for _, fix in problems)))
    return passed(f"{len(node.facts.users)} users, all on shared file systems")


def _writable_folder(node: CheckedNode) -> Path | None:
    """Return a folder in /fsx that this user can write to: the home, or /fsx itself."""
    home = Path(os.environ.get("HOME", "/"))
    folders = [home] if FSX in home.parents else []
    return next((folder for folder in [*folders, FSX] if os.access(node.system.path(folder), os.W_OK)), None)


def _write(node: CheckedNode, folder: Path) -> None:
    """Write one block to the servers, with a timeout: on a dead mount the write never returns."""
    probe = node.system.path(folder) / f".hyperpod-precheck-{secrets.token_hex(8)}"
    node.system.run(
        "dd", "if=/dev/zero", f"of={probe}", "bs=4096", "count=1", "conv=excl,fsync", "status=none", timeout_s=TIMEOUT_S
    )
    probe.unlink()


def _home_problem(node: CheckedNode, user: str, homes: str) -> tuple[str, str] | None:
    try:
        entry = node.system.run("getent", "passwd", user).strip().split(":")
    except NodeError:
        return f"{user} does not exist", "run the lifecycle scripts again, or replace the node: the scripts create the users"
    home = Path(entry[5])
    mount = node.mount_of(home)
    if mount is None or mount.path not in {FSX, HOME}:
        return f"{user}'s home {home} is not shared", f"sudo usermod -d {homes}/{user} {user}"
    if not node.system.path(home).is_dir():
        return f"{user}'s home {home} does not exist", f"sudo install -d -m 700 -o {user} -g {entry[3]} {home}"
    return None
