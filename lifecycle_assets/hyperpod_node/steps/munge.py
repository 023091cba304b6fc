"""Starts munge, by which Slurm's daemons and commands know each other; HyperPod's agent put the cluster's key on the node."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.slurm import daemon
from hyperpod_node.slurm.system import SYSTEM, System

if TYPE_CHECKING:
    from hyperpod_node.context import Context

KEY = Path("etc/munge/munge.key")


def apply(_: Context, system: System = SYSTEM) -> None:
    """Have munge run with the key that is there."""
    key = system.root / KEY
    if not key.exists():
        raise NodeError(f"{key} is missing; HyperPod's agent writes it: see its log on this node")
    daemon.run_with("munge", [key], system)
