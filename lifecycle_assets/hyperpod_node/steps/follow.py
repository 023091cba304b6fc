"""Install the agent that follows the cluster file on a running node, as a systemd service that a timer starts every minute.

Its failure never fails the node.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import problem_of
from hyperpod_node.follow import bundle
from hyperpod_node.follow.aws import Aws
from hyperpod_node.follow.memory import Memory
from hyperpod_node.follow.reports import APPLIED, Outcome, Reports
from hyperpod_node.managed_file import put
from hyperpod_node.slurm import daemon

if TYPE_CHECKING:
    from collections.abc import Callable

    from hyperpod_node.context import Context
    from hyperpod_node.system import System

SCRIPTS = Path(__file__).parents[2]
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
Environment=PYTHONPATH={bundle}
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
NOT_FOLLOWING = "this node does not follow the cluster file"
NOT_REPORTING = "this node does not report to the cluster yet"


def keep(context: Context, system: System) -> bool:
    """Copy the scripts to a permanent folder: a reboot empties /tmp, where HyperPod downloads them."""
    return context.settings.follow is not None and _tried(NOT_FOLLOWING, lambda: bundle.keep_started(SCRIPTS, system))


def apply(context: Context, system: System, aws: Aws | None = None) -> bool:
    """Start the agent with these scripts, and report them as applied."""
    if context.settings.follow is None:
        return _remove(system)
    is_started = _tried(NOT_FOLLOWING, lambda: _start(context, system))
    return is_started and _tried(NOT_REPORTING, lambda: _report(context, system, aws or Aws(attempts=1)))


def apply_live(context: Context, system: System) -> bool:
    """Update the agent's units on a running node; the agent itself switches to the new scripts afterwards."""
    if context.settings.follow is None:
        return _remove(system)
    _install(context.cluster.path, system)
    return True


def _start(context: Context, system: System) -> None:
    memory = Memory.load(system)
    memory.public_key = ""  # of the next pointer: the cluster may have a new key, and new scripts replaced all that it protects
    sha256 = bundle.use_started(system)
    if sha256 != memory.sha256:  # otherwise the node would refuse another bundle of the generation that it knows
        memory.sha256, memory.generation = sha256, max(0, memory.generation - 1)
    memory.save(system)
    _install(context.cluster.path, system)


def _report(context: Context, system: System, aws: Aws) -> None:
    memory = Memory.load(system)
    reports = Reports(context, system)
    reports.add_outcome(Outcome(APPLIED, memory.sha256, memory.generation))
    try:
        reports.send(aws)
    finally:
        memory.unsent = reports.lines  # the agent sends them later; a node without a route to AWS must not wait
        memory.save(system)


def _install(resource_config: Path, system: System) -> None:
    """Start the timer, now and after a reboot."""
    units = system.path(daemon.UNITS)
    service = put(units / f"{UNIT}.service", SERVICE.format(bundle=bundle.CURRENT, resource_config=resource_config))
    timer = put(units / f"{UNIT}.timer", TIMER)
    if service or timer:
        system.run("systemctl", "daemon-reload")
    if timer:
        system.run("systemctl", "restart", f"{UNIT}.timer")
    system.run("systemctl", "--no-reload", "enable", "--now", f"{UNIT}.timer")


def _remove(system: System) -> bool:
    """Stop the timer and delete the units; return whether they existed. A run in progress continues."""
    files = [system.path(daemon.UNITS / f"{UNIT}.{kind}") for kind in ("timer", "service")]
    if not any(file.exists() for file in files):
        return False
    system.run("systemctl", "disable", "--now", f"{UNIT}.timer")
    for file in files:
        file.unlink(missing_ok=True)
    system.run("systemctl", "daemon-reload")
    return True


def _tried(consequence: str, action: Callable[[], None]) -> bool:
    """Return whether ``action`` succeeded; otherwise print a warning."""
    try:
        action()
    except Exception as error:  # noqa: BLE001  the node works without its agent
        print(f"warning: {consequence}: {problem_of(error, OSError)}")
        return False
    return True
