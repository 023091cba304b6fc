"""Start slurmctld on a controller, and the service that maintains slurm.conf while the cluster changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.retry import RetryPolicy, retry
from hyperpod_node.slurm import controller_daemon, controllers, daemon, keeper
from hyperpod_node.steps import slurm_configuration
from hyperpod_node.system import System

if TYPE_CHECKING:
    from hyperpod_node.context import Context
    from hyperpod_node.slurm.slurm_conf import SlurmConf

FIRST_TIMEOUT_S = 300


def apply(context: Context, system: System) -> None:
    """Run slurmctld on this node, now and after a reboot, and never slurmd."""
    conf = slurm_configuration.read(system.slurm_conf)
    daemon.mask("slurmd", system)
    if context.settings.slurm.state_folder:
        folder = system.path(context.settings.slurm.state_folder)
        _create_state_folder(conf, folder, system)
        _wait_for_first_controller(conf, folder, system)
    complete = keeper.install(context, system)
    controller_daemon.start(conf, complete, system)
    keeper.start(complete, system)


def _wait_for_first_controller(conf: SlurmConf, folder: Path, system: System) -> None:
    """Wait on a backup for the first controller, if the state folder has no heartbeat yet.

    A backup does not respond before it sees a heartbeat, and the first controller asks its backups before it writes one: if they
    start at once, they lose half a minute. After the timeout, the backup starts without the first controller.
    """
    first = conf.controllers[0]
    if system.host == first.name.split(".")[0] or (folder / "heartbeat").exists():
        return
    policy = RetryPolicy(FIRST_TIMEOUT_S, first_pause_s=0.2, longest_pause_s=2, clock=system.clock)
    try:
        retry(f"the first controller, {first.name}", lambda: system.connect(first.address, controllers.PORT), policy)
    except NodeError as error:
        print(f"warning: this backup controller starts before the first one: {error}")


def _create_state_folder(conf: SlurmConf, folder: Path, system: System) -> None:
    """Create the controllers' shared folder; only Slurm's user can read it, because it contains job scripts."""
    if folder.is_dir():
        return
    user = system.owner_of(conf.value("SlurmUser") or "root")
    system.run("install", "--directory", "--mode=0700", f"--owner={user[0]}", f"--group={user[1]}", str(folder))
