"""Run the user's own scripts (`lifecycle.extra` of the cluster file), each folder at the point that it is named after."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from hyperpod_node.own_scripts import run_folder
from hyperpod_node.slurm import controllers

if TYPE_CHECKING:
    from hyperpod_node.context import Context
    from hyperpod_node.system import System

LIVE_TIMEOUT_S = 300  # for all scripts of `live`: the agent stops all live steps together after 360 s
TIMEOUT_S = controllers.OWN_SCRIPTS_TIMEOUT_S  # for all scripts of a point together: other nodes wait that long for this one


def run_point(context: Context, system: System, point: str, timeout_s: float = TIMEOUT_S) -> bool:
    """Run the scripts of ``point``, and return whether there are any; a failure fails the node."""
    folder = context.settings.path.parent / "extra" / point
    return run_folder(folder, environment(context), system, timeout_s)


before_slurm = partial(run_point, point="before_slurm")  # they prepare a node, before Slurm starts on it
after_slurm = partial(run_point, point="after_slurm")  # they need Slurm on their node
controller_ready = partial(run_point, point="controller_ready")  # for the cluster as a whole, once slurmctld responds
live = partial(run_point, point="live", timeout_s=LIVE_TIMEOUT_S)  # also on running nodes, each time they apply a new bundle


def environment(context: Context) -> dict[str, str]:
    """Return the environment variables that describe the node to a script."""
    return {
        "HYPERPOD_ROLE": context.role,
        "HYPERPOD_GROUP": context.node.group,
        "HYPERPOD_NODE_NAME": context.node.name,
        "HYPERPOD_CLUSTER_NAME": context.cluster.cluster_name,
        "HYPERPOD_CONTROLLER_ADDRESSES": ",".join(controllers.addresses_of(context)),
    }
