"""The configuration that slurmd and sackd fetch from the controllers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.retry import RetryPolicy, retry
from hyperpod_node.slurm.slurm_conf import BEGIN

if TYPE_CHECKING:
    from hyperpod_node.system import System

FILE = Path("/run/slurm/conf/slurm.conf")
TIMEOUT_S = 300


def renew(unit: str, system: System) -> None:
    """Restart ``unit`` until it has the configuration of the controller's scripts; log a warning if it never comes.

    HyperPod can start slurmctld before these scripts edit slurm.conf, and ``unit`` may have fetched the file from before.
    """
    policy = RetryPolicy(TIMEOUT_S, first_pause_s=1, longest_pause_s=30, clock=system.clock)

    def attempt() -> None:
        fetched = system.path(FILE)
        if not fetched.exists() or BEGIN not in fetched.read_text():
            system.run("systemctl", "restart", unit, timeout_s=120)
            raise NodeError(f"{fetched} lacks what the controller's scripts write")

    try:
        retry(f"the final configuration of {unit}", attempt, policy)
    except NodeError as error:
        print(f"warning: {error}; if settings of the cluster file are missing, run `scontrol reconfigure` on the controller")


def set_local_aside(system: System) -> None:
    """Rename a slurm.conf of the image: Slurm's commands would prefer it to the controllers' configuration."""
    if system.slurm_conf.exists():
        unused = system.slurm_conf.with_name("slurm.conf.not-on-this-node")
        system.slurm_conf.rename(unused)
        print(f"renamed {system.slurm_conf} to {unused.name}: this node uses the controllers' configuration")
