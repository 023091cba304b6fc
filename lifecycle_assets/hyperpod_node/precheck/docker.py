"""Check that Docker's service runs, if Docker is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.precheck.check_result import CheckResult, failed, passed, restart, skipped

if TYPE_CHECKING:
    from hyperpod_node.precheck.checked_node import CheckedNode

NAME = "docker"


def check(node: CheckedNode) -> CheckResult:
    """Look for the program, then for the service."""
    if not node.has("docker"):
        return skipped("docker is not installed; the cluster file does not require it")
    version = node.system.run("docker", "--version").strip()
    state = node.state_of("docker")
    if state == "active":
        return passed(version)
    if node.state_of("docker.socket") == "active":
        return passed(f"{version}, started on first use")
    return failed(
        f"docker is installed, but its service is {state}",
        f"{restart('docker', state)}; if that fails: sudo journalctl -u docker -n 50",
    )
