"""Maintain our part of slurm.conf: runs on each controller as a service.

HyperPod's agent rewrites the node lines when nodes join or leave, long after the lifecycle script, and drops our additions.
So the keeper checks the agent's files every second. A systemd path unit needs no process, but it misses changes while its
service runs.
"""

from __future__ import annotations

import shutil
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import problem_of
from hyperpod_node.managed_file import put
from hyperpod_node.node_settings import NodeSettings
from hyperpod_node.provisioning_parameters import ProvisioningParameters
from hyperpod_node.resource_config import ResourceConfig
from hyperpod_node.slurm import configuration, controllers, daemon
from hyperpod_node.slurm.drained_nodes import DrainedNodes
from hyperpod_node.slurm.handover import Handover
from hyperpod_node.slurm.joined_groups import JoinedGroups
from hyperpod_node.slurm.slurm_conf import SlurmConf
from hyperpod_node.system import SYSTEM, System

if TYPE_CHECKING:
    from hyperpod_node.context import Context

FOLDER = Path("/opt/hyperpod-cdk/slurm-conf")  # a reboot empties /tmp, where HyperPod downloads the scripts
SETTINGS, PARAMETERS = "node_settings.json", "slurm_groups.json"
UNIT = "hyperpod-slurm-conf"
EVERY_S = 1.0


@dataclass
class Keeper:
    """Watches the agent's files, and completes slurm.conf when they have changed and are stable again."""

    resource_config: Path
    settings: Path
    system: System
    kept: object = None
    seen: object = None
    problem: str = ""

    def __post_init__(self) -> None:
        self.joined = JoinedGroups(self.settings.parent, self.system)

    def check(self) -> bool:
        """Check once; return whether slurmctld was reconfigured. Errors are printed, and the next check tries again."""
        try:
            return self._check()
        except Exception as error:  # noqa: BLE001  HyperPod writes the files: no error in them may end the keeper
            problem = problem_of(error)
        if problem != self.problem:  # only once
            print(f"slurm.conf is not complete: {problem}", flush=True)
        self.problem = problem
        return False

    def _check(self) -> bool:
        """Check once; a file that has changed since the last check may be incomplete."""
        self.joined.learn()
        now = self._signatures()
        stable, self.seen = now == self.seen, now
        if not stable or now == self.kept:
            return False
        changed, complete = self._complete_all()
        reconfigure = changed or self.kept is not None
        if reconfigure:
            controllers.reconfigure(self.system)  # all slurmds know new nodes only then
        self.kept, self.problem = complete, ""
        return reconfigure

    def _complete_all(self) -> tuple[bool, list[tuple[int, ...] | None]]:
        """Complete slurm.conf; return whether it changed, and the signatures of complete files: the agent may write meanwhile."""
        changed = False
        while True:
            signatures = self._signatures()
            if not self.complete():
                return changed, signatures
            changed = True

    def complete(self) -> bool:
        """Complete slurm.conf; return whether it changed."""
        settings, cluster = NodeSettings.load(self.settings), ResourceConfig.load(self.resource_config)
        parameters = ProvisioningParameters.load(self.settings.with_name(PARAMETERS))
        conf = SlurmConf.parse(configuration.read(self.system.slurm_conf))
        settings = self.joined.added_to(settings, parameters, cluster, conf)
        changed, warnings = configuration.apply(settings, cluster, parameters.login_group, self.system)
        if changed:
            print(f"{self.system.slurm_conf} is complete again{''.join(f'; {warning}' for warning in warnings)}", flush=True)
        configuration.record_slurmctld(self.system)
        return changed

    def _signatures(self) -> list[tuple[int, ...] | None]:
        agents = [self.system.slurm_etc / name for name in configuration.AGENTS]
        return [_signature(path) for path in (self.resource_config, self.joined.file, *agents)]


def install(context: Context, system: System) -> str:
    """Copy the code and the settings to a permanent folder; return the command that runs the keeper."""
    folder, package = system.path(FOLDER), Path(__file__).parents[1]
    shutil.copytree(package, folder / package.name, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    settings = folder / SETTINGS
    put(settings, context.settings.path.read_text())
    put(folder / PARAMETERS, context.parameters.path.read_text())
    module = "hyperpod_node.slurm.keeper"
    return f"/usr/bin/env PYTHONPATH={folder} /usr/bin/python3 -B -u -m {module} {context.cluster.path} {settings}"


def start(command: str, system: System) -> None:
    """Run the keeper, now and after a reboot."""
    unit, folder = system.path(daemon.UNITS / f"{UNIT}.service"), system.path(FOLDER)
    lines = f"ExecStart={command}\nRestart=always\nRestartSec=5"
    put(unit, daemon.SERVICE.format(description="Keep the cluster file's settings in slurm.conf", lines=lines))
    daemon.ensure_running(UNIT, [unit, folder / SETTINGS, folder / PARAMETERS, *sorted(folder.rglob("*.py"))], system)


def _signature(path: Path) -> tuple[int, ...] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size


def main() -> None:
    """Run forever, or with --once, before slurmctld starts, complete slurm.conf and exit."""
    keeper, drained_nodes = Keeper(Path(sys.argv[1]), Path(sys.argv[2]), SYSTEM), DrainedNodes(SYSTEM)
    shared = NodeSettings.load(keeper.settings).slurm.state_folder
    handover = Handover(SYSTEM.path(shared), SYSTEM) if shared else None
    if "--once" in sys.argv:
        _prepare_start(keeper, handover)
        return
    if handover:  # a thread, because scontrol and the shared file system may hang
        threading.Thread(target=handover.watch, daemon=True).start()
    threading.Thread(target=drained_nodes.watch, daemon=True).start()
    while True:
        keeper.check()
        SYSTEM.clock.sleep(EVERY_S)


def _prepare_start(keeper: Keeper, handover: Handover | None) -> None:
    """Complete slurm.conf and take control back; an incomplete file does not prevent slurmctld's start."""
    try:
        keeper.complete()
    finally:
        if handover:
            handover.take_back()


if __name__ == "__main__":
    main()
