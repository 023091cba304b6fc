"""The addresses of the controllers, and whether they respond and know this node."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.shell import last_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hyperpod_node.context import Context
    from hyperpod_node.resource_config import ResourceConfig
    from hyperpod_node.system import System

PORT = 6817
OWN_SCRIPTS_TIMEOUT_S = 3600  # the user's scripts before Slurm
# Longer than all waits of a controller before it listens: readiness, mounts, directory, slurm.conf, database, the user's scripts.
TIMEOUT_S = OWN_SCRIPTS_TIMEOUT_S + 5400
FETCHED_CONF = Path("/run/slurm/conf/slurm.conf")  # from a controller, by slurmd or sackd


class UnlistedError(NodeError):
    """slurm.conf has no line for this node."""


def addresses_of(context: Context) -> list[str]:
    """Return the addresses of the controllers, as HyperPod lists them."""
    return listed(context.cluster, context.parameters.controller_group)


def listed(cluster: ResourceConfig, group: str) -> list[str]:
    """Return the addresses of the nodes of the controller group ``group``."""
    return [instance.address for instance in cluster.instances if instance.group == group]


def reachable(context: Context, system: System) -> list[str]:
    """Wait until a controller listens, and return the addresses of all."""
    addresses = addresses_of(context)
    if not addresses:
        raise NodeError(f"{context.cluster.path} lists no nodes in the controller group {context.parameters.controller_group!r}")
    attempt = partial(_one_listens, addresses, system)
    system.retry("a controller", attempt, TIMEOUT_S, first_pause_s=0.1, longest_pause_s=1, is_outside=True)
    return addresses


def answering(system: System, environment: Mapping[str, str] | None = None, timeout_s: float = 30) -> list[str]:
    """Return the hosts whose slurmctld responds; raise if none does.

    `scontrol ping` exits with status 1 if any controller is down, so its output counts.
    """
    try:
        output = system.slurm("scontrol", "ping", timeout_s=timeout_s, environment=environment)
    except NodeError as error:
        output = str(error)
    hosts = re.findall(r" at (\S+) is UP", output)
    if not hosts:
        raise NodeError(f"no controller responds: {last_lines(output)}")
    return hosts


def reconfigure(system: System, timeout_s: float = 60) -> None:
    """Make slurmctld and all slurmds read the files again; slurmctld may be restarting."""
    system.retry("slurmctld to read slurm.conf", lambda: system.slurm("scontrol", "reconfigure"), timeout_s, longest_pause_s=15)


def require_registration(system: System) -> None:
    """Raise unless slurmctld knows this node's slurmd; asks about one node only, for large clusters.

    A node that boots again, or replaces another one at its address, seems idle until its slurmd registers; then slurmctld kills
    the jobs that it sent there: validate_node_specs in https://github.com/SchedMD/slurm (src/slurmctld/node_mgr.c).
    """
    if not system.path(FETCHED_CONF).exists():
        raise NodeError("slurmd has no slurm.conf yet")
    try:
        show = ("scontrol", "--oneliner", "show", "node", system.host)
        output = system.slurm(*show, timeout_s=30, environment={"SLURM_TIME_FORMAT": "%s"})
    except NodeError as error:
        if f"Node {system.host} not found" in str(error):
            raise UnlistedError(f"slurm.conf has no line for {system.host}") from None
        raise
    fields = dict(word.split("=", 1) for word in output.split() if "=" in word)
    state, started = fields.get("State", "unknown"), fields.get("SlurmdStartTime", "None")
    if started == "None" or state.startswith("UNKNOWN") or "*" in state:
        raise NodeError(f"its state is {state}")
    if started.isdigit() and int(started) < _boot_time(system):
        raise NodeError(f"it has not registered since the node booted; its state is {state}")


def _boot_time(system: System) -> int:
    """Return when this node booted, in seconds of its own clock, which is also that of a slurmd's start time."""
    return int(re.findall(r"(?m)^btime (\d+)", system.path("/proc/stat").read_text())[0])


def _one_listens(addresses: list[str], system: System) -> None:
    problems = []
    for address in addresses:
        try:
            system.connect(address, PORT)
        except NodeError as error:
            problems.append(str(error))
        else:
            return
    raise NodeError(f"cannot reach slurmctld ({'; '.join(problems)}); see the log of the controller")
