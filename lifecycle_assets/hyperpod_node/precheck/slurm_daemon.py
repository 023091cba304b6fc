"""Slurm's daemon of this node runs, and Slurm counts the node in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.precheck.result import Result, failed, passed, skipped
from hyperpod_node.precheck.service import state_of
from hyperpod_node.provisioning_parameters import COMPUTE, CONTROLLER
from hyperpod_node.slurm import registration
from hyperpod_node.slurm.system import System

if TYPE_CHECKING:
    from hyperpod_node.precheck.machine import Machine

NAME = "slurm daemon"
DAEMONS = {CONTROLLER: "slurmctld", COMPUTE: "slurmd"}


def check(machine: Machine) -> Result:
    """Ask systemd for the daemon that this role has."""
    daemon = DAEMONS.get(machine.facts.role)
    if daemon is None:
        return skipped(f"a {machine.facts.role} node has no Slurm daemon")
    state = state_of(machine, daemon)
    if state == "active":
        return _registered(machine) if machine.facts.role == COMPUTE else passed(f"{daemon} is active")
    return failed(
        f"{daemon} is {state}",
        f"sudo journalctl -u {daemon} -n 50 says why; then: sudo systemctl restart {daemon}",
    )


def _registered(machine: Machine) -> Result:
    """Ask slurmctld: slurmd may be active, or start again and again, while slurm.conf has no line for the node."""
    system = System(root=machine.root, run=machine.run)
    try:
        registration.require(system)
    except NodeError as error:
        return failed(
            f"slurmd is active, but slurmctld does not know {system.host}: {error}",
            "HyperPod adds a node to slurm.conf some minutes after it is InService; after that: sudo systemctl restart slurmd",
        )
    return passed("slurmd is active, and slurmctld knows this node")
