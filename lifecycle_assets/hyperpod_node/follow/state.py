"""The state of a node: free space, services, and on controllers Slurm's nodes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hyperpod_node import metadata_rules
from hyperpod_node.errors import NodeError
from hyperpod_node.node_settings import NONE
from hyperpod_node.provisioning_parameters import COMPUTE, CONTROLLER, LOGIN
from hyperpod_node.slurm import accounting_daemon, controllers

if TYPE_CHECKING:
    from hyperpod_node.context import Context
    from hyperpod_node.system import System

TIMEOUT_S, SLURM_TIMEOUT_S = 10.0, 15.0
FOLDERS = ("/", "/fsx", "/home")
SERVICES = {
    CONTROLLER: ("munge", "slurmctld", "slurmdbd", "hyperpod-slurm-conf", "hyperpod-metadata"),
    LOGIN: ("munge", "sackd", "hyperpod-metadata"),
    COMPUTE: ("munge", "slurmd", "hyperpod-metadata"),
}
JOINING = "joining"
MOST_PROBLEMS = 50
_WIDTHS = {"NodeHost": 80, "StateComplete": 80, "Version": 20, "Reason": 200}
_UNREGISTERED = "N/A"  # the version of a slurmd that never registered
_DOWN = {"down", "error", "fail"}
_BUSY = {"allocated", "mixed", "completing"}
_COUNTED = ("idle", "allocated", "drained", "down", "joining")


def state(context: Context, system: System) -> dict[str, Any]:
    """Return the state of this node."""
    services = _services(context.role, system)
    if context.settings.accounting.database == NONE:  # an image may have one that is not configured and fails
        services.pop("slurmdbd", None)
    found: dict[str, Any] = {"disks": _disks(system), "services": services}
    return found | ({"slurm": _slurm(context, system)} if context.role == CONTROLLER else {})


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
    # Also of a node that could not install nft, whose service has not started.
    if metadata_rules.UNIT in services and metadata_rules.is_open(system):
        services[metadata_rules.UNIT] = metadata_rules.OPEN
    return services


def _slurm(context: Context, system: System) -> dict[str, Any]:
    """Return whether the daemons respond, and how many nodes are in which state."""
    database = None if context.settings.accounting.database == NONE else int(accounting_daemon.is_up(system))
    return {"slurmctld": int(_responds(system)), "slurmdbd": database} | _nodes(system)


def _responds(system: System) -> bool:
    """Return whether slurmctld on this node responds."""
    try:
        hosts = controllers.answering(system, timeout_s=SLURM_TIMEOUT_S)
    except NodeError:
        return False
    return any(host.split(".")[0] == system.host for host in hosts)


def _nodes(system: System) -> dict[str, Any]:
    """Return the counts and problems of Slurm's nodes; all are null if no controller responds, because they are unknown."""
    widths = ",".join(f"{name}:{width}" for name, width in _WIDTHS.items())
    try:
        output = system.slurm("sinfo", "--noheader", "--Node", f"--Format={widths}", timeout_s=SLURM_TIMEOUT_S)
    except NodeError as error:
        print(f"warning: the states of Slurm's nodes are unknown: {error}")
        return dict.fromkeys(("nodes", *_COUNTED, "problems"))
    rows = {row[0]: row for row in map(_columns, output.splitlines()) if row[0]}
    nodes = {host: (_kind(state, version), state, reason) for host, state, version, reason in rows.values()}
    problems = [
        {"host": host, "state": JOINING if kind == JOINING else state, "reason": "" if reason == "none" else reason}
        for host, (kind, state, reason) in nodes.items()
        if kind in ("drained", "down", JOINING)
    ]
    problems.sort(key=lambda each: each["state"] == JOINING)
    kinds = [kind for kind, *_ in nodes.values()]
    counts = {kind: kinds.count(kind) for kind in _COUNTED}
    return {"nodes": len(nodes), **counts, "problems": problems[:MOST_PROBLEMS]}


def _columns(line: str) -> list[str]:
    columns, start = [], 0
    for width in _WIDTHS.values():
        columns.append(line[start : start + width].strip())
        start += width
    return columns


def _kind(state: str, version: str) -> str:
    """Return what a node's state and its flags mean for jobs: "idle+drain" is drained."""
    base, *flags = state.lower().rstrip("*").split("+")
    # Before its first registration; slurmctld calls it down after SlurmdTimeout, 300 s by default. With State=CLOUD, it is idle.
    if base == "unknown" or (version == _UNREGISTERED and base not in _DOWN and "drain" not in flags):
        return JOINING
    if base in _DOWN or {"not_responding", "fail"} & set(flags):
        return "down"
    if "drain" in flags or base.startswith("drain"):
        return "drained"
    return "allocated" if base in _BUSY or _BUSY & set(flags) else base
