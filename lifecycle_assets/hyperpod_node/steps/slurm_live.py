"""Change Slurm's settings on a running controller."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.json_file import load_object
from hyperpod_node.managed_file import put
from hyperpod_node.retry import RetryPolicy, retry
from hyperpod_node.slurm import keeper
from hyperpod_node.slurm.keeper import Keeper
from hyperpod_node.system import System

if TYPE_CHECKING:
    from typing import Any

    from hyperpod_node.context import Context

TIMEOUT_S = 60


def apply(context: Context, system: System) -> bool:
    """Write the new settings to slurm.conf, and make all daemons read them; return False if nothing changed.

    If slurmctld rejects the settings, restore those before.
    """
    settings = system.path(keeper.FOLDER / keeper.SETTINGS)
    if not settings.exists():
        raise NodeError(f"{settings} is missing; run the lifecycle script on this controller again")
    before = settings.read_text()
    command = keeper.install(context, system)
    put(settings, _with_kept_parts(load_object(settings), json.loads(before)))
    changed = Keeper(context.cluster.path, settings, system).complete()
    if not changed and settings.read_text() == before:
        keeper.start(command, system)  # its code may be new
        return False
    try:
        _reconfigure(system)
    except NodeError:
        put(settings, before)
        Keeper(context.cluster.path, settings, system).complete()
        raise
    keeper.start(command, system)
    return True


def _with_kept_parts(new: dict[str, Any], before: dict[str, Any]) -> str:
    """Return the new settings with the old accounting and state folder: with others, slurmctld would lose its state."""
    kept = {"accounting": before["accounting"], "slurm": new["slurm"] | {"state_folder": before["slurm"]["state_folder"]}}
    for name, is_same in (
        ("slurm.accounting", new["accounting"] == kept["accounting"]),
        ("slurm.state_folder", new["slurm"]["state_folder"] == kept["slurm"]["state_folder"]),
    ):
        if not is_same:
            print(f"warning: {name} does not change on a running controller; replace the controller, or run its scripts again")
    return json.dumps(new | kept, indent=2) + "\n"


def _reconfigure(system: System) -> None:
    """Make slurmctld and all slurmds read the files again."""
    policy = RetryPolicy(TIMEOUT_S, first_pause_s=1, clock=system.clock)
    retry("slurmctld to read slurm.conf", lambda: system.slurm("scontrol", "reconfigure"), policy)
