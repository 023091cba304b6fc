"""Enroot unpacks containers on the fast local disk; its own default is in memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.precheck.local_disk import judge
from hyperpod_node.precheck.result import Result, failed, skipped

if TYPE_CHECKING:
    from hyperpod_node.precheck.machine import Machine

NAME = "enroot runtime path"
SETTINGS = "/etc/enroot/enroot.conf"
SETTING = "ENROOT_RUNTIME_PATH"


def check(machine: Machine) -> Result:
    """Compare the configured path with the disks that are there."""
    if not machine.has("enroot"):
        return skipped("enroot is not installed; nothing in the cluster file asks for it")
    value = runtime_path(machine.text(SETTINGS) or "")
    disk = (machine.local_disks() or [Path("/opt")])[0]
    if value is None:
        return failed(f"{SETTINGS} sets no {SETTING}, so that containers are unpacked in memory", _remedy(disk))
    if not value.startswith("/"):
        return failed(f"{SETTING} {value} differs from user to user", _remedy(disk))
    return judge(machine, SETTING, Path(value), _remedy)


def runtime_path(settings: str) -> str | None:
    """The last value in force in enroot.conf; its lines are `NAME VALUE`, comments begin with `#`."""
    value = None
    for line in settings.splitlines():
        name, _, rest = line.strip().partition(" ")
        if name == SETTING and rest.strip():
            value = rest.strip()
    return value


def _remedy(disk: Path) -> str:
    return f"write `{SETTING} {disk}/enroot/user-$(id -u)` into {SETTINGS}"
