"""Check whether slurmctld knows this compute node."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError

if TYPE_CHECKING:
    from hyperpod_node.system import System

CACHED = Path("/run/slurm/conf/slurm.conf")


class UnlistedError(NodeError):
    """slurm.conf has no line for this node."""


def require(system: System) -> None:
    """Raise unless slurmctld knows this node's slurmd; asks about one node only, for large clusters."""
    if not system.path(CACHED).exists():
        raise NodeError("slurmd has no slurm.conf yet")
    try:
        output = system.slurm("scontrol", "--oneliner", "show", "node", system.host, timeout_s=30)
    except NodeError as error:
        if f"Node {system.host} not found" in str(error):
            raise UnlistedError(f"slurm.conf has no line for {system.host}") from None
        raise
    fields = dict(word.split("=", 1) for word in output.split() if "=" in word)
    state = fields.get("State", "unknown")
    if fields.get("SlurmdStartTime", "None") == "None" or state.startswith("UNKNOWN") or "*" in state:
        raise NodeError(f"its state is {state}")
