"""The controllers, as the other nodes reach them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.retry import RetryPolicy, retry
from hyperpod_node.shell import last_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hyperpod_node.context import Context
    from hyperpod_node.resource_config import ResourceConfig
    from hyperpod_node.system import System

PORT = 6817
OWN_SCRIPTS_TIMEOUT_S = 3600  # the user's scripts before Slurm
# At least what a controller may need before it listens: its readiness, mounts, slurm.conf and database, and the user's scripts.
TIMEOUT_S = OWN_SCRIPTS_TIMEOUT_S + 4800


def addresses_of(context: Context) -> list[str]:
    """The addresses of the controllers, as HyperPod lists them."""
    return listed(context.cluster, context.parameters.controller_group)


def listed(cluster: ResourceConfig, group: str) -> list[str]:
    """The addresses of the nodes of ``group``, which is the controllers'."""
    return [instance.address for instance in cluster.instances if instance.group == group]


def reachable(context: Context, system: System) -> list[str]:
    """The addresses of all controllers, once one of them listens."""
    addresses = addresses_of(context)
    if not addresses:
        raise NodeError(f"{context.cluster.path} lists no node of the controller group {context.parameters.controller_group!r}")
    policy = RetryPolicy(TIMEOUT_S, first_pause_s=0.1, longest_pause_s=1, clock=system.clock)
    retry("a controller", lambda: _one_listens(addresses, system), policy)
    return addresses


def answering(system: System, environment: Mapping[str, str] | None = None) -> list[str]:
    """The hosts whose slurmctld answers; NodeError where none does.

    `scontrol ping` ends with status 1 as soon as one of several controllers is down, so it is read, not believed.
    """
    try:
        said = system.slurm("scontrol", "ping", timeout_s=30, environment=environment)
    except NodeError as error:
        said = str(error)
    hosts = re.findall(r" at (\S+) is UP", said)
    if not hosts:
        raise NodeError(f"no controller answers: {last_lines(said)}")
    return hosts


def _one_listens(addresses: list[str], system: System) -> None:
    problems = []
    for address in addresses:
        try:
            system.connect(address, PORT)
        except NodeError as error:
            problems.append(str(error))
        else:
            return
    raise NodeError(f"slurmctld cannot be reached ({'; '.join(problems)}); see the log of the controller")
