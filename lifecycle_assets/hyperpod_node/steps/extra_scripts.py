"""Run the user's own scripts (`lifecycle.extra` of the cluster file), each folder at the point that it is named after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.own_scripts import run_folder
from hyperpod_node.slurm import controllers

if TYPE_CHECKING:
    from hyperpod_node.context import Context
    from hyperpod_node.system import System

LIVE_TIMEOUT_S = 300  # for all scripts of `live`: the agent stops all live steps together after 360 s
TIMEOUT_S = controllers.OWN_SCRIPTS_TIMEOUT_S  # for all scripts of a point together: other nodes wait that long for this one


def before_slurm(context: Context, system: System) -> bool:
    """Run the scripts that prepare a node, before Slurm starts on it."""
    return run_all(context, "before_slurm", system)


def after_slurm(context: Context, system: System) -> bool:
    """Run the scripts that need Slurm on their node."""
    return run_all(context, "after_slurm", system)


def live(context: Context, system: System) -> bool:
    """Run the scripts that also run on running nodes, each time they apply a new bundle."""
    return run_all(context, "live", system, LIVE_TIMEOUT_S)


def controller_ready(context: Context, system: System) -> bool:
    """Run the scripts for the cluster as a whole, on each controller as soon as its slurmctld responds."""
    return run_all(context, "controller_ready", system)


def run_all(context: Context, point: str, system: System, timeout_s: float = TIMEOUT_S) -> bool:
    """Run the scripts of ``point``, and return whether there are any; a failure fails the node."""
    folder = context.settings.path.parent / "extra" / point
    return run_folder(folder, environment(context), system, timeout_s)


def environment(context: Context) -> dict[str, str]:
    """Return the environment variables that describe the node to a script."""
    node = context.node
    return {
        "HYPERPOD_ROLE": node.role,
        "HYPERPOD_GROUP": node.group,
        "HYPERPOD_NODE_NAME": node.name,
        "HYPERPOD_CLUSTER_NAME": node.cluster_name,
        "HYPERPOD_CONTROLLER_ADDRESSES": ",".join(controllers.addresses_of(context)),
    }
