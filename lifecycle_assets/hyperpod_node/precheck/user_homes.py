"""Check that the homes of the cluster file's users are on the shared file system."""

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
    if not node.facts.users:
        return skipped("the cluster file names no users")
    if not node.facts.file_system:
        return skipped("no file system is configured, so homes are local")
    if not any(mount.path == FSX for mount in node.mounts()):
        return skipped("/fsx is not mounted: fix that first")
    problems = [problem for user in node.facts.users if (problem := _problem(node, user))]
    if problems:
        return failed("; ".join(message for message, _ in problems), "; ".join(dict.fromkeys(fix for _, fix in problems)))
    return passed(f"{len(node.facts.users)} users, all on shared file systems")


def _problem(node: CheckedNode, user: str) -> tuple[str, str] | None:
    try:
        entry = node.system.run("getent", "passwd", user).strip().split(":")
    except NodeError:
        return f"{user} does not exist", "run the lifecycle scripts again, or replace the node: the scripts create the users"
    home = Path(entry[5])
    mount = node.mount_of(home)
    if mount is None or mount.path not in {FSX, HOME}:
        return f"{user}'s home {home} is not shared", f"sudo usermod -d /fsx/home/{user} {user}"
    if not node.system.path(home).is_dir():
        return f"{user}'s home {home} does not exist", f"sudo install -d -m 700 -o {user} -g {entry[3]} {home}"
    return None
