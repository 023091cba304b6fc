"""Update the controllers' addresses: runs on workers and login nodes as root, whenever HyperPod's agent rewrites its file.

A path unit starts it, so no process waits in between. A path unit does not see changes while its service runs, so the service
checks again after each update. A change in the few milliseconds between the last check and the unit's next watch is found at
the next rewrite or boot.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError, problem_of
from hyperpod_node.managed_file import put
from hyperpod_node.resource_config import ResourceConfig
from hyperpod_node.slurm import controllers, daemon
from hyperpod_node.slurm.conf_server import CLIENTS
from hyperpod_node.system import CODE, SYSTEM, System

if TYPE_CHECKING:
    from hyperpod_node.context import Context

UNIT = "hyperpod-controllers"
# The service also runs once when the watch starts, and at boot, so no earlier change is missed.
WATCH = """\
[Unit]
Description=Watch the list of controllers from HyperPod
Wants={unit}.service

[Path]
PathChanged={resource_config}

[Install]
WantedBy=multi-user.target
"""
# HyperPod may rewrite the file many times within seconds; at the start limit, the watch would stop for good.
SERVICE = """\
[Unit]
Description=Update the addresses of the controllers
StartLimitIntervalSec=0

[Service]
Type=oneshot
Environment=PYTHONPATH={code}
SyslogIdentifier={unit}
ExecStart=/usr/bin/python3 -B -u -m hyperpod_node.slurm.follower {resource_config} {group} {client}
"""
WHOLE_TIMEOUT_S = 10  # the file may be incomplete while it is written


@dataclass(frozen=True)
class Follower:
    """Compares the controllers' addresses with those that ``client`` of this node uses."""

    resource_config: Path
    group: str  # the controllers'
    client: str
    system: System

    def follow(self) -> None:
        """Check and update until nothing changes."""
        while self.check():
            pass

    def check(self) -> bool:
        """Check once; return whether the addresses were updated. While no controller is listed, keep the old addresses."""
        client = CLIENTS[self.client]
        now, before = self._listed(), client.addresses(self.system)
        if not now or not before or set(now) == set(before):
            return False
        client.write(now, self.system)
        effect = client.reload(self.system)
        print(f"the controllers' addresses are now {','.join(now)}, not {','.join(before)}: {effect}", flush=True)
        return True

    def _listed(self) -> list[str]:
        load = partial(ResourceConfig.load, self.resource_config)
        retry = partial(self.system.retry, first_pause_s=0.1, longest_pause_s=2)
        cluster = retry("a complete resource config", load, WHOLE_TIMEOUT_S)
        return controllers.listed(cluster, self.group)


def start(context: Context, client: str, system: System) -> None:
    """Start the watch, now and after a reboot; a failure does not fail the node."""
    try:
        _watch(context, client, system)
    except NodeError as error:
        print(f"warning: this node will not find replaced controllers: {error}")


def _watch(context: Context, client: str, system: System) -> None:
    file, group, units = context.cluster.path, context.parameters.controller_group, system.path(daemon.UNITS)
    watch, service = units / f"{UNIT}.path", units / f"{UNIT}.service"
    if put(service, SERVICE.format(unit=UNIT, code=CODE, resource_config=file, group=group, client=client)) and watch.exists():
        system.run("systemctl", "daemon-reload")  # otherwise ``ensure_running`` does it, because the watch is new
    put(watch, WATCH.format(unit=UNIT, resource_config=file))
    daemon.ensure_running(watch.name, [watch, service], system)


def main() -> int:
    """Follow once; the output goes to the journal. After a failure, the path unit starts this again at the next rewrite."""
    try:
        Follower(Path(sys.argv[1]), sys.argv[2], sys.argv[3], SYSTEM).follow()
    except Exception as error:  # noqa: BLE001  HyperPod writes the file: report any error in it as one line
        print(f"cannot update the addresses of the controllers: {problem_of(error)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
