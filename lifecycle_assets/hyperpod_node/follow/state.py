"""The state of a node: free space, services, and on controllers Slurm's nodes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hyperpod_node.errors import NodeError
from hyperpod_node.follow.slurm_state import slurm_state
from hyperpod_node.provisioning_parameters import COMPUTE, CONTROLLER, LOGIN

if TYPE_CHECKING:
    from hyperpod_node.context import Context
    from hyperpod_node.system import System

TIMEOUT_S = 10.0
FOLDERS = ("/", "/fsx", "/home")
SERVICES = {
    CONTROLLER: ("munge", "slurmctld", "slurmdbd", "hyperpod-slurm-conf"),
    LOGIN: ("munge", "sackd"),
    COMPUTE: ("munge", "slurmd"),
}


def state(context: Context, system: System) -> dict[str, Any]:
    """Return the state of this node."""
    found: dict[str, Any] = {"disks": _disks(system), "services": _services(context.role, system)}
    return found | ({"slurm": slurm_state(context, system)} if context.role == CONTROLLER else {})


def _disks(system: System) -> list[dict[str, Any]]:
    """Return the free space of the root volume and of file systems that are mounted; omit those that do not respond."""
    mounted = {line.split()[1] for line in system.path("/proc/mounts").read_text().splitlines()}
    found = []
    for path in FOLDERS:
        if path != "/" and path not in mounted:
            continue
        try:  # a program, because a file system that does not respond would hang the agent
            words = system.run("stat", "--file-system", "--format=%a %b", path, timeout_s=TIMEOUT_S).split()
            found.append({"path": path, "free_percent": round(100 * int(words[0]) / max(1, int(words[1])), 1)})
        except (NodeError, ValueError, IndexError) as error:
            print(f"warning: the free space of {path} is unknown: {error}")
    return found


def _services(role: str, system: System) -> dict[str, str]:
    """Return the state of each service of the node's role that the node has; empty if systemd does not respond."""
    units = [f"{name}.service" for name in SERVICES[role]]
    try:
        output = system.run("systemctl", "show", "--property=Id,LoadState,ActiveState", *units, timeout_s=TIMEOUT_S)
    except NodeError as error:
        print(f"warning: the state of the services is unknown: {error}")
        return {}
    services = {}
    for block in re.split(r"\n\s*\n", output.strip()):
        values = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        if values.get("LoadState") == "loaded":
            services[values["Id"].removesuffix(".service")] = values.get("ActiveState", "")
    return services
