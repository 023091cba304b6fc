"""NVIDIA's container program is there: containers see no GPU without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.precheck.result import Result, failed, passed, skipped

if TYPE_CHECKING:
    from hyperpod_node.precheck.machine import Machine

NAME = "nvidia container cli"
PROGRAM = "nvidia-container-cli"


def check(machine: Machine) -> Result:
    """Ask the program for its version, on nodes with GPUs that run containers."""
    if not machine.facts.gpus:
        return skipped(f"{machine.facts.instance_type} has no NVIDIA GPU")
    if not (machine.has("docker") or machine.has("enroot")):
        return skipped("neither docker nor enroot is installed")
    if not machine.has(PROGRAM):
        return failed(f"{PROGRAM} is not installed", "install the package libnvidia-container-tools of NVIDIA's repository")
    return passed(machine.run(PROGRAM, "--version").splitlines()[0])
