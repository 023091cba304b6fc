"""The users of the cluster file have their homes on the shared file system, here as on every other node."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.precheck.result import Result, failed, passed, skipped

if TYPE_CHECKING:
    from hyperpod_node.precheck.machine import Machine

NAME = "user homes"
FSX, HOME = Path("/fsx"), Path("/home")


def check(machine: Machine) -> Result:
    """Look every user up, and where the home lies."""
    if not machine.facts.users:
        return skipped("the cluster file names no users")
    if not machine.facts.file_system:
        return skipped("no file system is configured, so homes are local")
    if not any(mount.path == FSX for mount in machine.mounts()):
        return skipped("/fsx is not mounted: mend that first")
    problems = [problem for user in machine.facts.users if (problem := _problem(machine, user))]
    if problems:
        return failed("; ".join(found for found, _ in problems), "; ".join(dict.fromkeys(remedy for _, remedy in problems)))
    return passed(f"{len(machine.facts.users)} users, all on shared file systems")


def _problem(machine: Machine, user: str) -> tuple[str, str] | None:
    try:
        entry = machine.run("getent", "passwd", user).strip().split(":")
    except NodeError:
        return f"{user} does not exist", "run the lifecycle scripts again, or replace the node: they make the users"
    home = Path(entry[5])
    mount = machine.mount_of(home)
    if mount is None or mount.path not in {FSX, HOME}:
        return f"{user}'s home {home} is not shared", f"sudo usermod -d /fsx/home/{user} {user}"
    if not (machine.root / home.relative_to("/")).is_dir():
        return f"{user}'s home {home} does not exist", f"sudo install -d -m 700 -o {user} -g {entry[3]} {home}"
    return None
