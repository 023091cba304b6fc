"""Check that this node's Slurm daemon runs, and that slurmctld knows the node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.precheck.check_result import CheckResult, failed, passed, restart, skipped
from hyperpod_node.provisioning_parameters import COMPUTE, CONTROLLER
from hyperpod_node.slurm import registration

if TYPE_CHECKING:
    from hyperpod_node.precheck.checked_node import CheckedNode

NAME = "slurm daemon"
DAEMONS = {CONTROLLER: "slurmctld", COMPUTE: "slurmd"}


def check(node: CheckedNode) -> CheckResult:
    """Ask systemd for the state of this role's daemon."""
    daemon = DAEMONS.get(node.facts.role)
    if daemon is None:
        return skipped(f"a {node.facts.role} node has no Slurm daemon")
    state = node.state_of(daemon)
    if state == "active":
        return _registered(node) if node.facts.role == COMPUTE else passed(f"{daemon} is active")
    return failed(
        f"{daemon} is {state}",
        f"see the reason: sudo journalctl -u {daemon} -n 50; then: {restart(daemon, state)}",
    )


def _registered(node: CheckedNode) -> CheckResult:
    """Ask slurmctld: slurmd may be active, or restart repeatedly, while slurm.conf has no line for the node."""
    try:
        registration.require(node.system)
    except NodeError as error:
        return failed(
            f"slurmd is active, but slurmctld does not know {node.system.host}: {error}",
            "HyperPod adds a node to slurm.conf some minutes after it is InService; after that: sudo systemctl restart slurmd",
        )
    return passed("slurmd is active, and slurmctld knows this node")
