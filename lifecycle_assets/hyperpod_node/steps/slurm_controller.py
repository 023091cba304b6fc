"""Configure and start Slurm on a controller, keep slurm.conf while the cluster changes, and change it while Slurm runs."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.json_file import load_object
from hyperpod_node.managed_file import put
from hyperpod_node.slurm import configuration, controller_daemon, controllers, daemon, keeper
from hyperpod_node.slurm.slurm_conf import SlurmConf

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from hyperpod_node.context import Context
    from hyperpod_node.system import System

# HyperPod's agent writes slurm.conf and munge's key.
AGENT_TIMEOUT_S = 600
FIRST_TIMEOUT_S = 300


def apply_configuration(context: Context, system: System) -> None:
    """Wait for slurm.conf from HyperPod's agent, and update the managed block, node lines, gres.conf and topology.conf."""
    require = partial(_require_controllers, context, system)
    system.retry("slurm.conf", require, AGENT_TIMEOUT_S, first_pause_s=0.2)
    _, warnings = configuration.apply(context.settings, context.cluster, context.parameters.login_group, system)
    for warning in warnings:
        print(f"warning: {warning}")


def apply(context: Context, system: System) -> None:
    """Run slurmctld on this node, now and after a reboot, and never slurmd."""
    conf = read(system.slurm_conf)
    daemon.mask("slurmd", system)
    if context.settings.slurm.state_folder:
        folder = system.path(context.settings.slurm.state_folder)
        _create_state_folder(conf, folder, system)
        _wait_for_first_controller(conf, folder, system)
    complete = keeper.install(context, system)
    controller_daemon.start(conf, complete, system)
    keeper.start(complete, system)


def apply_live(context: Context, system: System) -> bool:
    """Write the new settings to slurm.conf, and make all daemons read them; return False if nothing changed.

    If slurmctld rejects the settings, restore those before.
    """
    settings = system.path(keeper.FOLDER / keeper.SETTINGS)
    if not settings.exists():
        raise NodeError(f"{settings} is missing; run the lifecycle script on this controller again")
    before = settings.read_text()
    command = keeper.install(context, system)
    put(settings, _with_kept_parts(load_object(settings), json.loads(before)))
    changed = keeper.Keeper(context.cluster.path, settings, system).complete()
    if not changed and settings.read_text() == before:
        keeper.start(command, system)  # its code may be new
        return False
    try:
        controllers.reconfigure(system)
    except NodeError:
        put(settings, before)
        keeper.Keeper(context.cluster.path, settings, system).complete()
        raise
    keeper.start(command, system)
    return True


def read(path: Path) -> SlurmConf:
    """Return the agent's slurm.conf; raise if it is missing or names no controller."""
    if not path.exists():
        raise NodeError(f"{path} is missing; HyperPod's agent writes it on the controller: see its log on this node")
    conf = SlurmConf.parse(path.read_text())
    if not conf.controllers:
        raise NodeError(f"{path} has no SlurmctldHost: HyperPod's agent has not finished it")
    return conf


def _require_controllers(context: Context, system: System) -> None:
    """Raise until slurm.conf names all controllers: two that do not know each other would both become active.

    The agent writes these lines, as AWS's own scripts for several controllers also assume. Their order, which is the order of
    takeover, must be the same on all controllers. The agent's first file may name other hosts.
    """
    conf = read(system.slurm_conf)
    expected = {context.node.address, *controllers.addresses_of(context)}
    named = {c.address for c in conf.controllers} | {c.name.removeprefix("ip-").replace("-", ".") for c in conf.controllers}
    if system.host in (c.name.split(".")[0] for c in conf.controllers):
        named.add(context.node.address)
    missing = sorted(expected - named)
    if missing:
        names = [c.name if c.name == c.address else f"{c.name}({c.address})" for c in conf.controllers]
        raise NodeError(f"slurm.conf has SlurmctldHost lines for {names} but not for the controllers {missing}")


def _wait_for_first_controller(conf: SlurmConf, folder: Path, system: System) -> None:
    """Wait on a backup for the first controller, if the state folder has no heartbeat yet.

    A backup does not respond before it sees a heartbeat, and the first controller asks its backups before it writes one: if they
    start at once, they lose half a minute. After the timeout, the backup starts without the first controller.
    """
    first = conf.controllers[0]
    if system.host == first.name.split(".")[0] or (folder / "heartbeat").exists():
        return
    connect = partial(system.connect, first.address, controllers.PORT)
    try:
        system.retry(f"the first controller, {first.name}", connect, FIRST_TIMEOUT_S, first_pause_s=0.2, longest_pause_s=2)
    except NodeError as error:
        print(f"warning: this backup controller starts before the first one: {error}")


def _create_state_folder(conf: SlurmConf, folder: Path, system: System) -> None:
    """Create the controllers' shared folder; only Slurm's user can read it, because it contains job scripts."""
    if folder.is_dir():
        return
    user = system.owner_of(conf.value("SlurmUser") or "root")
    system.run("install", "--directory", "--mode=0700", f"--owner={user[0]}", f"--group={user[1]}", str(folder))


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
