"""Configure Slurm's commands on a login node, which runs no daemon for jobs, and follow controllers that are replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.node_settings import API
from hyperpod_node.retry import RetryPolicy, retry
from hyperpod_node.slurm import controllers, daemon, fetched_configuration, follower
from hyperpod_node.slurm.conf_server import SACKD, SHELLS
from hyperpod_node.system import System

if TYPE_CHECKING:
    from pathlib import Path

    from hyperpod_node.context import Context

SACKD_LINES = """\
Type=notify
User=slurm
RuntimeDirectory=slurm
RuntimeDirectoryMode=0755
ExecStart={sackd} --systemd"""
TIMEOUT_S = 120


def apply(context: Context, system: System) -> None:
    """Make Slurm's commands work in every shell.

    sackd, which images with Slurm 23.11 or newer may have, writes the configuration to /run/slurm/conf, where commands find it in
    any shell, also those of Session Manager. Without sackd, an environment variable makes commands ask a controller each time.
    """
    for unit in ("slurmd", "slurmctld"):
        daemon.mask(unit, system)
    fetched_configuration.set_local_aside(system)
    addresses = controllers.reachable(context, system)
    sackd = system.find("sackd")
    if sackd:
        _run_sackd(sackd, addresses, system)
        if context.settings.slurm.setup == API:
            fetched_configuration.renew("sackd", system)
    else:
        SHELLS.write(addresses, system)
    environment = {} if sackd else {"SLURM_CONF_SERVER": ",".join(addresses)}
    policy = RetryPolicy(TIMEOUT_S, first_pause_s=0.2, longest_pause_s=5, clock=system.clock)
    retry("Slurm's commands", lambda: controllers.answering(system, environment), policy)
    follower.start(context, "sackd" if sackd else "shells", system)


def _run_sackd(sackd: Path, addresses: list[str], system: System) -> None:
    SACKD.write(addresses, system)
    daemon.provide("sackd", "Slurm's configuration for a login node", SACKD_LINES.format(sackd=sackd), system)
    daemon.ensure_running("sackd", SACKD.files(system), system)
    SACKD.require_options(system)
