"""Install the agent as a systemd service that a timer starts every minute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.follow.bundle import CURRENT
from hyperpod_node.managed_file import put
from hyperpod_node.slurm import daemon

if TYPE_CHECKING:
    from pathlib import Path

    from hyperpod_node.system import System

UNIT = "hyperpod-follow"
SERVICE = """\
[Unit]
Description=Follow the cluster file and report this node's state
After=network-online.target
Wants=network-online.target

[Service]
Type=oneshot
TimeoutStartSec=infinity
Nice=10
Environment=PYTHONPATH={current}
Environment=SAGEMAKER_RESOURCE_CONFIG_PATH={resource_config}
ExecStart=/usr/bin/python3 -B -u -m hyperpod_node.follow
"""
# On average once a minute, at other times on each node.
TIMER = """\
[Unit]
Description=Follow the cluster file every minute

[Timer]
OnActiveSec=1s
OnUnitInactiveSec=45s
RandomizedDelaySec=30s
AccuracySec=1s

[Install]
WantedBy=timers.target
"""


def install(resource_config: Path, system: System) -> None:
    """Start the timer, now and after a reboot."""
    units = system.path(daemon.UNITS)
    service = put(units / f"{UNIT}.service", SERVICE.format(current=CURRENT, resource_config=resource_config))
    timer = put(units / f"{UNIT}.timer", TIMER)
    if service or timer:
        system.run("systemctl", "daemon-reload")
    if timer:
        system.run("systemctl", "restart", f"{UNIT}.timer")
    system.run("systemctl", "--no-reload", "enable", "--now", f"{UNIT}.timer")


def remove(system: System) -> bool:
    """Stop the timer and delete the units; return whether they existed. A run in progress continues."""
    files = [system.path(daemon.UNITS / f"{UNIT}.{kind}") for kind in ("timer", "service")]
    if not any(file.exists() for file in files):
        return False
    system.run("systemctl", "disable", "--now", f"{UNIT}.timer")
    for file in files:
        file.unlink(missing_ok=True)
    system.run("systemctl", "daemon-reload")
    return True
