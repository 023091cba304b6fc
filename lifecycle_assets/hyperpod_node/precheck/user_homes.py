"""Check that the homes of the cluster file's users and of the AMI's own user are on the shared file system."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.precheck.check_result import CheckResult, failed, passed, skipped

if TYPE_CHECKING:
    from hyperpod_node.precheck.checked_node import CheckedNode

NAME = "user homes"
FSX, HOME = Path("/fsx"), Path("/home")


def check(node: CheckedNode) -> CheckResult:
    """Look up each user and the location of the home."""
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
    problems = [problem for user in node.facts.users if (problem := _problem(node, user, node.facts.homes))]
    if problems:
        return failed("; ".join(message for message, _ in problems), "; ".join(dict.fromkeys(fix for _, fix in problems)))
    return passed(f"{len(node.facts.users)} users, all on shared file systems")


def _problem(node: CheckedNode, user: str, homes: str) -> tuple[str, str] | None:
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
