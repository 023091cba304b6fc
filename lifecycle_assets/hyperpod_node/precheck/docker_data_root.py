"""Docker keeps images on the fast local disk: the root disk is small, and a full one stops the node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.precheck.local_disk import judge
from hyperpod_node.precheck.result import Result, failed, skipped

if TYPE_CHECKING:
    from hyperpod_node.precheck.machine import Machine

NAME = "docker data root"
SETTINGS = "/etc/docker/daemon.json"
DEFAULT = Path("/var/lib/docker")


def check(machine: Machine) -> Result:
    """Compare `data-root` with the disks that are there."""
    if not machine.has("docker"):
        return skipped("docker is not installed")
    try:
        root = Path(json.loads(machine.text(SETTINGS) or "{}").get("data-root", DEFAULT))
    except (ValueError, AttributeError, TypeError):
        return failed(f"{SETTINGS} is not a JSON object with a data-root", f"sudo python3 -m json.tool {SETTINGS} shows where")
    return judge(
        machine,
        "docker's data root",
        root,
        lambda disk: f'set "data-root": "{disk}/docker/data-root" in {SETTINGS}, then: sudo systemctl restart docker',
    )
