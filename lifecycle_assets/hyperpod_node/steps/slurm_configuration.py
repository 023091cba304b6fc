"""On a controller: waits for the slurm.conf of HyperPod's agent, and makes it say what the cluster file says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.retry import RetryPolicy, retry
from hyperpod_node.slurm import configuration, controllers
from hyperpod_node.slurm.slurm_conf import SlurmConf
from hyperpod_node.system import System

if TYPE_CHECKING:
    from pathlib import Path

    from hyperpod_node.context import Context

TIMEOUT_S = 600


def apply(context: Context, system: System) -> None:
    """Write our block, node lines, gres.conf, topology.conf and the prolog's scripts, where they are not right."""
    policy = RetryPolicy(TIMEOUT_S, first_pause_s=0.2, clock=system.clock)
    retry("slurm.conf", lambda: _require_controllers(read(system.slurm_conf), context, system), policy)
    _, warnings = configuration.apply(context.settings, context.cluster, system)
    for warning in warnings:
        print(f"warning: {warning}")


def read(path: Path) -> SlurmConf:
    """The agent's slurm.conf; an error while it is missing or has no controller in it."""
    if not path.exists():
        raise NodeError(f"{path} is missing; HyperPod's agent writes it on the controller: see its log on this node")
    conf = SlurmConf.parse(path.read_text())
    if not conf.controllers:
        raise NodeError(f"{path} names no SlurmctldHost, so HyperPod's agent has not finished it")
    return conf


def _require_controllers(conf: SlurmConf, context: Context, system: System) -> None:
    """Raise until slurm.conf names this controller, and all others: two of which one does not know would both take charge.

    The lines are the agent's: AWS's own scripts for several controllers add none either, and their order, which must be
    the same on all controllers, is who takes over from whom. Its first file may name other hosts, as AWS's scripts expect.
    """
    expected = {context.node.address, *controllers.addresses_of(context)}
    named = {c.address for c in conf.controllers} | {c.name.removeprefix("ip-").replace("-", ".") for c in conf.controllers}
    if system.host in (c.name.split(".")[0] for c in conf.controllers):
        named.add(context.node.address)
    missing = sorted(expected - named)
    if missing:
        names = [c.name if c.name == c.address else f"{c.name}({c.address})" for c in conf.controllers]
        raise NodeError(f"slurm.conf has SlurmctldHost lines for {names} but not for the controllers {missing}")
