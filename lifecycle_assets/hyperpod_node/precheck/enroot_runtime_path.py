"""Check that enroot unpacks containers on the fast local disk; its default is in memory."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.precheck.check_result import CheckResult, failed, skipped
from hyperpod_node.precheck.local_disk import check_folder

if TYPE_CHECKING:
    from hyperpod_node.precheck.checked_node import CheckedNode

NAME = "enroot runtime path"
SETTINGS = "/etc/enroot/enroot.conf"
SETTING = "ENROOT_RUNTIME_PATH"


def check(node: CheckedNode) -> CheckResult:
    """Compare the configured path with the mounted local disks."""
    if not node.has("enroot"):
        return skipped("enroot is not installed; the cluster file does not require it")
    value = runtime_path(node.text(SETTINGS) or "")
    disk = (node.local_disks() or [Path("/opt")])[0]
    if value is None:
        return failed(f"{SETTINGS} does not set {SETTING}, so containers are unpacked in memory", _fix(disk))
    if not value.startswith("/"):
        return failed(f"{SETTING} {value} depends on the user's environment", _fix(disk))
    return check_folder(node, SETTING, Path(value), _fix)


def runtime_path(settings: str) -> str | None:
    """Return the value in enroot.conf; its lines are `NAME VALUE`, and the last one counts."""
    value = None
    for line in settings.splitlines():
        name, _, rest = line.strip().partition(" ")
        if name == SETTING and rest.strip():
            value = rest.strip()
    return value


def _fix(disk: Path) -> str:
    return f"add `{SETTING} {disk}/enroot/user-$(id -u)` to {SETTINGS}"
