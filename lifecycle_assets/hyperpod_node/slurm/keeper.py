"""Keeps our part of slurm.conf: runs on each controller as a service, for as long as the cluster lives.

HyperPod's agent rewrites the node lines as nodes come and go, without what was added to them, long after the lifecycle script.
Its files are looked at every second. systemd's path units would do that without a process, but they do not see a change that
comes while the service of an earlier one still runs.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError, unexpected
from hyperpod_node.managed_file import put
from hyperpod_node.node_settings import NodeSettings
from hyperpod_node.resource_config import ResourceConfig
from hyperpod_node.retry import RetryPolicy, retry
from hyperpod_node.slurm import configuration, daemon
from hyperpod_node.slurm.drained_nodes import DrainedNodes
from hyperpod_node.system import SYSTEM, System

if TYPE_CHECKING:
    from hyperpod_node.context import Context

FOLDER = Path("/opt/hyperpod-cdk/slurm-conf")  # what HyperPod downloaded is in /tmp, and gone after a reboot
SETTINGS = "node_settings.json"
UNIT = "hyperpod-slurm-conf"
SERVICE = """\
[Unit]
Description=Keep in slurm.conf what the cluster file says

[Service]
ExecStart={command}
Restart=always
RestartSec=5

[Install]
WantedBy=multi-user.target
"""
EVERY_S = 1.0


@dataclass
class Keeper:
    """Looks at the files that the agent writes, and completes slurm.conf when they have changed and are still again."""

    resource_config: Path
    settings: Path
    system: System
    kept: object = None
    seen: object = None
    problem: str = ""

    def check(self) -> bool:
        """Look once; tell whether slurmctld was told of a change. Whatever goes wrong is printed, and looked at again."""
        try:
            return self._check()
        except NodeError as error:
            problem = str(error)
        except Exception as error:  # noqa: BLE001  HyperPod writes the files: no mistake in them may end the keeper
            problem = unexpected(error)
        if problem != self.problem:  # once, not every second
            print(f"slurm.conf is not complete: {problem}", flush=True)
        self.problem = problem
        return False

    def _check(self) -> bool:
        """A file that changed since the last look may be half written."""
        now = self._signatures()
        still, self.seen = now == self.seen, now
        if not still or now == self.kept:
            return False
        tell = self.complete() or self.kept is not None
        if tell:
            self._tell()
        self.kept, self.problem = self._signatures(), ""
        return tell

    def complete(self) -> bool:
        """Complete slurm.conf; tell whether it had to be."""
        settings, cluster = NodeSettings.load(self.settings), ResourceConfig.load(self.resource_config)
        changed, warnings = configuration.apply(settings, cluster, self.system)
        if changed:
            print(f"{self.system.slurm_conf} is complete again{''.join(f'; {warning}' for warning in warnings)}", flush=True)
        configuration.record_slurmctld(self.system)
        return changed

    def _tell(self) -> None:
        """Have slurmctld and all slurmds take the files as they are; workers know of new ones only from then on."""
        policy = RetryPolicy(60, clock=self.system.clock)  # the agent may be restarting slurmctld at this moment
        retry("slurmctld to read slurm.conf", lambda: self.system.slurm("scontrol", "reconfigure"), policy)

    def _signatures(self) -> list[tuple[int, ...] | None]:
        topologies = [self.system.slurm_etc / name for name in configuration.TOPOLOGIES]
        return [_signature(path) for path in (self.system.slurm_conf, self.resource_config, *topologies)]


def install(context: Context, system: System) -> str:
    """Put the code and the cluster file's settings where they stay; the command that runs them."""
    folder, package = system.path(FOLDER), Path(__file__).parents[1]
    shutil.copytree(package, folder / package.name, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    settings = folder / SETTINGS
    put(settings, context.settings.path.read_text())
    module = "hyperpod_node.slurm.keeper"
    return f"/usr/bin/env PYTHONPATH={folder} /usr/bin/python3 -B -u -m {module} {context.cluster.path} {settings}"


def start(command: str, system: System) -> None:
    """Have the keeper run, now and after a reboot."""
    unit, folder = system.path(daemon.UNITS / f"{UNIT}.service"), system.path(FOLDER)
    if put(unit, SERVICE.format(command=command)):
        system.run("systemctl", "daemon-reload")
    daemon.ensure_running(UNIT, [unit, folder / SETTINGS, *sorted(folder.rglob("*.py"))], system)


def _signature(path: Path) -> tuple[int, ...] | None:
    try:
        there = path.stat()
    except FileNotFoundError:
        return None
    return there.st_ino, there.st_mtime_ns, there.st_size


def main() -> None:
    """Keep it for ever, or look once before slurmctld starts; the journal has what is printed."""
    keeper, drained_nodes = Keeper(Path(sys.argv[1]), Path(sys.argv[2]), SYSTEM), DrainedNodes(SYSTEM)
    while "--once" not in sys.argv:
        keeper.check()
        drained_nodes.check()
        SYSTEM.clock.sleep(EVERY_S)
    keeper.complete()


if __name__ == "__main__":
    main()
