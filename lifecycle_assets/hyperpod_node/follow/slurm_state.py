"""The state of Slurm, as a controller sees it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from hyperpod_node.errors import NodeError
from hyperpod_node.node_settings import NONE
from hyperpod_node.slurm import accounting_daemon

if TYPE_CHECKING:
    from hyperpod_node.context import Context
    from hyperpod_node.system import System

TIMEOUT_S = 15.0
JOINING = "joining"
MOST_PROBLEMS = 50
_WIDTHS = {"NodeHost": 80, "StateComplete": 80, "Reason": 200}
_BUSY = {"allocated", "mixed", "completing"}
_COUNTED = ("idle", "allocated", "drained", "down", "joining")


def slurm_state(context: Context, system: System) -> dict[str, Any]:
    """Return whether the daemons respond, and how many nodes are in which state."""
    database = None if context.settings.accounting.database == NONE else int(accounting_daemon.is_up(system))
    return {"slurmctld": int(_responds(system)), "slurmdbd": database} | _nodes(system)


def _responds(system: System) -> bool:
    """Return whether slurmctld on this node responds; `scontrol ping` fails if any controller is down, so its output counts."""
    try:
        output = system.slurm("scontrol", "ping", timeout_s=TIMEOUT_S)
    except NodeError as error:
        output = str(error)
    return any(host.split(".")[0] == system.host for host in re.findall(r" at (\S+) is UP", output))


def _nodes(system: System) -> dict[str, Any]:
    """Return the counts and problems of Slurm's nodes; all are null if no controller responds, because they are unknown."""
    widths = ",".join(f"{name}:{width}" for name, width in _WIDTHS.items())
    try:
        output = system.slurm("sinfo", "--noheader", "--Node", f"--Format={widths}", timeout_s=TIMEOUT_S)
    except NodeError as error:
        print(f"warning: the states of Slurm's nodes are unknown: {error}")
        return dict.fromkeys(("nodes", *_COUNTED, "problems"))
    nodes = {host: (state, reason) for host, state, reason in map(_columns, output.splitlines()) if host}
    kinds = [_kind(state) for state, _ in nodes.values()]
    problems = [
        {"host": host, "state": JOINING if _kind(state) == JOINING else state, "reason": "" if reason == "none" else reason}
        for host, (state, reason) in nodes.items()
        if _kind(state) in ("drained", "down", JOINING)
    ]
    problems.sort(key=lambda each: each["state"] == JOINING)
    counts = {kind: kinds.count(kind) for kind in _COUNTED}
    return {"nodes": len(nodes), **counts, "problems": problems[:MOST_PROBLEMS]}


def _columns(line: str) -> list[str]:
    columns, start = [], 0
    for width in _WIDTHS.values():
        columns.append(line[start : start + width].strip())
        start += width
    return columns


def _kind(state: str) -> str:
    """Return what a node's state and its flags mean for jobs: "idle+drain" is drained."""
    base, *flags = state.lower().rstrip("*").split("+")
    if base == "unknown":  # before its first registration; slurmctld calls it down after SlurmdTimeout, 300 s by default
        return JOINING
    if base in ("down", "error", "fail") or {"not_responding", "fail"} & set(flags):
        return "down"
    if "drain" in flags or base.startswith("drain"):
        return "drained"
    return "allocated" if base in _BUSY or _BUSY & set(flags) else base
