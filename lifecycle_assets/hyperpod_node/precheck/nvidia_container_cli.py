"""Check that NVIDIA's container program is installed; without it containers see no GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.precheck.check_result import CheckResult, failed, passed, skipped

if TYPE_CHECKING:
    from hyperpod_node.precheck.checked_node import CheckedNode

NAME = "nvidia container cli"
PROGRAM = "nvidia-container-cli"


def check(node: CheckedNode) -> CheckResult:
    """Run the program, on GPU nodes that have a container runtime."""
    if not node.facts.gpus:
        return skipped(f"{node.facts.instance_type} has no NVIDIA GPU")
    if not (node.has("docker") or node.has("enroot")):
        return skipped("neither docker nor enroot is installed")
    if not node.has(PROGRAM):
        return failed(f"{PROGRAM} is not installed", "install libnvidia-container-tools from NVIDIA's repository")
    return passed(node.system.run(PROGRAM, "--version").splitlines()[0])
