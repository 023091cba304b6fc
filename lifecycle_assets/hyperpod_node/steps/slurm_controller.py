"""On a controller: starts slurmctld, and what keeps its configuration while the cluster changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.slurm import controller_daemon, daemon, keeper
from hyperpod_node.slurm.system import SYSTEM, System
from hyperpod_node.steps import slurm_configuration

if TYPE_CHECKING:
    from hyperpod_node.context import Context
    from hyperpod_node.slurm.slurm_conf import SlurmConf


def apply(context: Context, system: System = SYSTEM) -> None:
    """Have slurmctld answer on this node, now and after a reboot, and slurmd never run here."""
    conf = slurm_configuration.read(system.slurm_conf)
    daemon.never_run("slurmd", system)
    if context.settings.slurm.state_folder:
        _make_state_folder(conf, system.root / context.settings.slurm.state_folder.lstrip("/"), system)
    complete = keeper.install(context, system)
    controller_daemon.start(conf, complete, system)
    keeper.start(complete, system)


def _make_state_folder(conf: SlurmConf, folder: Path, system: System) -> None:
    """Make the folder that the controllers share; only Slurm's user may read it, for it holds the users' job scripts."""
    if folder.is_dir():
        return
    user = system.owner_of(conf.value("SlurmUser") or "root")
    system.run("install", "--directory", "--mode=0700", f"--owner={user[0]}", f"--group={user[1]}", str(folder))
