"""Runs the user's own scripts (`lifecycle.extra` of the cluster file) at the points after which their folders are named."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.retry import CLOCK, Clock
from hyperpod_node.shell import Run, run
from hyperpod_node.slurm import controllers

if TYPE_CHECKING:
    from pathlib import Path

    from hyperpod_node.context import Context

WITHIN_S = controllers.OWN_SCRIPTS_WITHIN_S  # all scripts of a point together: nodes that wait for this one count on it


def before_slurm(context: Context) -> bool:
    """Run the scripts that prepare a node, before Slurm starts on it."""
    return run_all(context, "before_slurm")


def after_slurm(context: Context) -> bool:
    """Run the scripts that need Slurm on their node."""
    return run_all(context, "after_slurm")


def controller_ready(context: Context) -> bool:
    """Run the scripts that are for the cluster as a whole: on each controller, as soon as its slurmctld answers."""
    return run_all(context, "controller_ready")


def run_all(context: Context, point: str, run: Run = run, clock: Clock = CLOCK) -> bool:
    """Run the scripts of one point in the order of their names, and tell whether there are any; one that fails ends the node."""
    folder = context.settings.path.parent / "extra" / point
    files = sorted(file for file in folder.iterdir() if file.is_file() and file.name[0] not in "._") if folder.is_dir() else []
    end = clock.now() + WITHIN_S
    for file in files:
        print(f"extra/{point}/{file.name}", flush=True)
        try:
            run(*command(file), environment=environment(context), timeout_s=_left(end, clock), show=True)
        except NodeError as error:
            raise NodeError(f"extra/{point}/{file.name}: {error}") from None
    return bool(files)


def _left(end: float, clock: Clock) -> float:
    if (left := end - clock.now()) <= 0:
        raise NodeError(f"no time is left: the scripts before it took the {WITHIN_S} s that all of this folder have together")
    return left


def command(file: Path) -> list[str]:
    """How to start a script: as its first line says, else by bash; S3, where it came from, keeps no executable bit."""
    first = file.read_bytes()[:256].split(b"\n")[0].decode(errors="replace")
    interpreter = first[2:].split(maxsplit=1) if first.startswith("#!") else ["bash"]
    return [*interpreter, str(file)]


def environment(context: Context) -> dict[str, str]:
    """What a script is told of its node."""
    node = context.node
    return {
        "HYPERPOD_ROLE": node.role,
        "HYPERPOD_GROUP": node.group,
        "HYPERPOD_NODE_NAME": node.name,
        "HYPERPOD_CLUSTER_NAME": node.cluster_name,
        "HYPERPOD_CONTROLLER_ADDRESSES": ",".join(controllers.addresses_of(context)),
    }
