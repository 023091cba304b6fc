"""Follows controllers to new addresses: runs on workers and login nodes as root, each time HyperPod's agent rewrites its file.

A path unit starts it; no process waits in between. A path unit does not see what is written while its service runs, so whoever
acted looks once more before it ends. What is written in the few milliseconds between the last look and the unit's next watch is
found at the next rewrite or boot.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError, unexpected
from hyperpod_node.managed_file import put
from hyperpod_node.precheck.facts import FILE
from hyperpod_node.resource_config import ResourceConfig
from hyperpod_node.retry import RetryPolicy, retry
from hyperpod_node.slurm import controllers, daemon
from hyperpod_node.slurm.conf_server import CLIENTS
from hyperpod_node.system import SYSTEM, System

if TYPE_CHECKING:
    from hyperpod_node.context import Context

CODE = FILE.parent  # the step hyperpod-precheck, which every node takes before Slurm's, has copied this package there
UNIT = "hyperpod-controllers"
# The service runs once when the watch begins, at boot too: nothing that was written before that is missed.
WATCH = """\
[Unit]
Description=Watch where HyperPod says that the controllers are
Wants={unit}.service

[Path]
PathChanged={resource_config}

[Install]
WantedBy=multi-user.target
"""
# A cluster that grows rewrites the file many times within seconds; at the limit of starts the watch would end for good.
SERVICE = """\
[Unit]
Description=Follow the controllers to new addresses
StartLimitIntervalSec=0

[Service]
Type=oneshot
Environment=PYTHONPATH={code}
SyslogIdentifier={unit}
ExecStart=/usr/bin/python3 -B -u -m hyperpod_node.slurm.follower {resource_config} {group} {client}
"""
WHOLE_TIMEOUT_S = 10  # a file that is being written


@dataclass(frozen=True)
class Follower:
    """Compares where the controllers are with what ``client`` of this node was told."""

    resource_config: Path
    group: str  # the controllers'
    client: str
    system: System

    def follow(self) -> None:
        """Look, and act where the controllers have moved, until there is nothing left to do."""
        while self.check():
            pass

    def check(self) -> bool:
        """Look once; tell whether the controllers had moved. While none is listed, the old addresses stay."""
        client = CLIENTS[self.client]
        now, before = self._listed(), client.addresses(self.system)
        if not now or not before or set(now) == set(before):
            return False
        client.write(now, self.system)
        effect = client.reload(self.system)
        print(f"the controllers are at {','.join(now)}, no longer at {','.join(before)}: {effect}", flush=True)
        return True

    def _listed(self) -> list[str]:
        policy = RetryPolicy(WHOLE_TIMEOUT_S, first_pause_s=0.1, longest_pause_s=2, clock=self.system.clock)
        cluster = retry("a whole resource config", lambda: ResourceConfig.load(self.resource_config), policy)
        return controllers.listed(cluster, self.group)


def start(context: Context, client: str, system: System) -> None:
    """Have this node follow the controllers, now and after a reboot; a node that cannot is in service all the same."""
    try:
        _watch(context, client, system)
    except NodeError as error:
        print(f"warning: this node does not follow a controller that is replaced: {error}")


def _watch(context: Context, client: str, system: System) -> None:
    file, group, units = context.cluster.path, context.parameters.controller_group, system.path(daemon.UNITS)
    watch, service = units / f"{UNIT}.path", units / f"{UNIT}.service"
    if put(service, SERVICE.format(unit=UNIT, code=CODE, resource_config=file, group=group, client=client)) and watch.exists():
        system.run("systemctl", "daemon-reload")  # else ``ensure_running`` does it, as the watch is new
    put(watch, WATCH.format(unit=UNIT, resource_config=file))
    daemon.ensure_running(watch.name, [watch, service], system)


def main() -> int:
    """Follow once; the journal has what is printed. After a failure, the path unit starts this again at the next rewrite."""
    try:
        Follower(Path(sys.argv[1]), sys.argv[2], sys.argv[3], SYSTEM).follow()
    except NodeError as error:
        problem = str(error)
    except Exception as error:  # noqa: BLE001  HyperPod writes the file: any mistake in it becomes one line
        problem = unexpected(error)
    else:
        return 0
    print(f"this node may not know where the controllers are: {problem}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
