"""Wait on a controller for slurm.conf from HyperPod's agent, and add the cluster file's settings."""

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
    """Update the managed block, node lines, gres.conf and topology.conf."""
    policy = RetryPolicy(TIMEOUT_S, first_pause_s=0.2, clock=system.clock)
    retry("slurm.conf", lambda: _require_controllers(read(system.slurm_conf), context, system), policy)
    _, warnings = configuration.apply(context.settings, context.cluster, context.parameters.login_group, system)
    for warning in warnings:
        print(f"warning: {warning}")


def read(path: Path) -> SlurmConf:
    """Return the agent's slurm.conf; raise if it is missing or names no controller."""
    if not path.exists():
        raise NodeError(f"{path} is missing; HyperPod's agent writes it on the controller: see its log on this node")
    conf = SlurmConf.parse(path.read_text())
    if not conf.controllers:
        raise NodeError(f"{path} has no SlurmctldHost: HyperPod's agent has not finished it")
    return conf


def _require_controllers(conf: SlurmConf, context: Context, system: System) -> None:
    """Raise until slurm.conf names all controllers: two that do not know each other would both become active.

    The agent writes these lines, as AWS's own scripts for several controllers also assume. Their order, which is the order of
    takeover, must be the same on all controllers. The agent's first file may name other hosts.
    """
    expected = {context.node.address, *controllers.addresses_of(context)}
    named = {c.address for c in conf.controllers} | {c.name.removeprefix("ip-").replace("-", ".") for c in conf.controllers}
    if system.host in (c.name.split(".")[0] for c in conf.controllers):
        named.add(context.node.address)
    missing = sorted(expected - named)
    if missing:
        names = [c.name if c.name == c.address else f"{c.name}({c.address})" for c in conf.controllers]
        raise NodeError(f"slurm.conf has SlurmctldHost lines for {names} but not for the controllers {missing}")
