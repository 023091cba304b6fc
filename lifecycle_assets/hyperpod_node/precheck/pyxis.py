"""Check that Slurm has loaded pyxis: `srun --container-image` works."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.precheck.check_result import CheckResult, failed, passed, skipped

if TYPE_CHECKING:
    from hyperpod_node.precheck.checked_node import CheckedNode

NAME = "pyxis"
PLUGINS, PYXIS = "/opt/slurm/etc/plugstack.conf", "/usr/local/lib/slurm/spank_pyxis.so"


def check(node: CheckedNode) -> CheckResult:
    """Look in srun's options, which include those of each plugin that is loaded."""
    if not node.has("enroot"):
        return skipped("enroot is not installed; the cluster file does not require it")
    if "--container-image" in node.system.run("srun", "--help"):
        return passed("srun supports --container-image")
    return failed(
        "enroot is installed, but srun does not support --container-image",
        f"install pyxis on every node; on the controller, add `required {PYXIS}` to {PLUGINS}, then: sudo scontrol reconfigure",
    )
