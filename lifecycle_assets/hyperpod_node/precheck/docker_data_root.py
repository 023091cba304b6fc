"""Check that Docker stores images on the fast local disk; a full root disk stops the node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.precheck.check_result import CheckResult, failed, skipped
from hyperpod_node.precheck.local_disk import check_folder

if TYPE_CHECKING:
    from hyperpod_node.precheck.checked_node import CheckedNode

NAME = "docker data root"
SETTINGS = "/etc/docker/daemon.json"
DEFAULT = Path("/var/lib/docker")


def check(node: CheckedNode) -> CheckResult:
    """Compare `data-root` with the mounted local disks."""
    if not node.has("docker"):
        return skipped("docker is not installed")
    try:
        root = Path(json.loads(node.text(SETTINGS) or "{}").get("data-root", DEFAULT))
    except (ValueError, RecursionError, AttributeError, TypeError):
        return failed(
            f"{SETTINGS} is not a JSON object with a data-root", f"find the error with: sudo python3 -m json.tool {SETTINGS}"
        )
    return check_folder(
        node,
        "docker's data root",
        root,
        lambda disk: f'set "data-root": "{disk}/docker/data-root" in {SETTINGS}, then: sudo systemctl restart docker',
    )
