"""Start munge, which authenticates Slurm's daemons and commands; HyperPod's agent writes the cluster's key."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.slurm import daemon
from hyperpod_node.steps import slurm_controller
from hyperpod_node.system import System

if TYPE_CHECKING:
    from hyperpod_node.context import Context

KEY = Path("/etc/munge/munge.key")


def apply(_: Context, system: System) -> None:
    """Wait for the key, and start munge."""
    key = system.path(KEY)
    system.retry("munge's key", lambda: _require(key), slurm_controller.AGENT_TIMEOUT_S, first_pause_s=0.2)
    daemon.ensure_running("munge", [key], system)


def _require(key: Path) -> None:
    if not key.exists():
        raise NodeError(f"{key} is missing; HyperPod's agent writes it: see its log on this node")
