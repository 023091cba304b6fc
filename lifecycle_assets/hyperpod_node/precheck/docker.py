"""Docker is installed, and its service runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.precheck.result import Result, failed, passed, skipped
from hyperpod_node.precheck.service import state_of

if TYPE_CHECKING:
    from hyperpod_node.precheck.machine import Machine

NAME = "docker"


def check(machine: Machine) -> Result:
    """Look for the program, then for the service: either may be missing alone."""
    if not machine.has("docker"):
        return skipped("docker is not installed; nothing in the cluster file asks for it")
    version = machine.run("docker", "--version").strip()
    state = state_of(machine, "docker")
    if state == "active":
        return passed(version)
    if state_of(machine, "docker.socket") == "active":
        return passed(f"{version}, started at its first use")
    return failed(
        f"docker is installed but its service is {state}",
        "sudo systemctl restart docker; if that fails: sudo journalctl -u docker -n 50",
    )
