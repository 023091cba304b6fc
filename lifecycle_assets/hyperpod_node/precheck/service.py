"""The state of a systemd service."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hyperpod_node.precheck.checked_node import CheckedNode


def restart(unit: str, state: str) -> str:
    """Return the commands that start ``unit``, which is in ``state``."""
    return f"{f'sudo systemctl unmask {unit}; ' if state == 'masked' else ''}sudo systemctl restart {unit}"


def state_of(node: CheckedNode, unit: str) -> str:
    """Return the state of ``unit``: active, inactive, failed, ... with the reason of a failure."""
    # unlike `is-active`, `show` always exits with status 0
    shown = node.system.run("systemctl", "show", "-p", "LoadState,ActiveState,Result", unit)
    values = dict(line.split("=", 1) for line in shown.splitlines() if "=" in line)
    if values.get("LoadState") in {"not-found", "masked"}:
        return values["LoadState"]
    state, result = values.get("ActiveState", "unknown"), values.get("Result", "success")
    return state if state == "active" or result == "success" else f"{state} ({result})"
