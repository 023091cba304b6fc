"""On a login node: Slurm's commands, which need the controllers' configuration; no daemon that would take jobs.

From then on the node follows controllers that are replaced.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.managed_file import put
from hyperpod_node.retry import Patience, retry
from hyperpod_node.slurm import controllers, daemon, follow
from hyperpod_node.slurm.conf_server import SACKD, SHELLS
from hyperpod_node.system import System

if TYPE_CHECKING:
    from hyperpod_node.context import Context

UNIT = Path("/usr/lib/systemd/system/sackd.service")
SERVICE = """\
[Unit]
Description=Slurm's configuration for the commands of a login node

[Service]
Type=notify
User=slurm
RuntimeDirectory=slurm
RuntimeDirectoryMode=0755
ExecStart={sackd} --systemd $SACKD_OPTIONS

[Install]
WantedBy=multi-user.target
"""
WITHIN_S = 120


def apply(context: Context, system: System) -> None:
    """Have Slurm's commands work here in every shell.

    sackd, which images with Slurm 23.11 or newer may have, keeps the configuration in /run/slurm/conf, where the commands of any
    shell look, Session Manager's included. Without it they are told by the environment to ask a controller each time.
    """
    for unit in ("slurmd", "slurmctld"):
        daemon.never_run(unit, system)
    addresses = controllers.reachable(context, system)
    sackd = system.find("sackd")
    if sackd:
        _run_sackd(sackd, addresses, system)
    else:
        SHELLS.tell(addresses, system)
    environment = {} if sackd else {"SLURM_CONF_SERVER": ",".join(addresses)}
    patience = Patience(WITHIN_S, first_pause_s=0.2, longest_pause_s=5, clock=system.clock)
    retry("Slurm's commands", lambda: controllers.answering(system, environment), patience)
    follow.start(context, "sackd" if sackd else "shells", system)


def _run_sackd(sackd: Path, addresses: list[str], system: System) -> None:
    own_unit = system.path(daemon.UNITS / "sackd.service")
    SACKD.tell(addresses, system)
    if not system.path(UNIT).exists() and put(own_unit, SERVICE.format(sackd=sackd)):
        system.run("systemctl", "daemon-reload")
    daemon.run_with("sackd", SACKD.files(system), system)
