"""The state of a systemd service."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hyperpod_node.precheck.machine import Machine


def state_of(machine: Machine, unit: str) -> str:
    """Systemd's word for it: active, inactive, failed, ... with its reason where it has one."""
    # `show` ends with status 0 whatever the state is; `is-active` does not.
    shown = machine.run("systemctl", "show", "-p", "LoadState,ActiveState,Result", unit)
    values = dict(line.split("=", 1) for line in shown.splitlines() if "=" in line)
    if values.get("LoadState") in {"not-found", "masked"}:
        return values["LoadState"]
    state, result = values.get("ActiveState", "unknown"), values.get("Result", "success")
    return state if state == "active" or result == "success" else f"{state} ({result})"
