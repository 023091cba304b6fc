"""On a login node: Slurm's commands, which need the controllers' configuration; no daemon that would take jobs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.managed_file import put
from hyperpod_node.retry import Patience, retry
from hyperpod_node.slurm import controllers, daemon
from hyperpod_node.slurm.system import SYSTEM, System

if TYPE_CHECKING:
    from hyperpod_node.context import Context

OPTIONS = Path("etc/default/sackd")
UNIT = Path("usr/lib/systemd/system/sackd.service")
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
DROP_IN = f"""\
[Unit]
After=munge.service network-online.target
StartLimitIntervalSec=0

[Service]
EnvironmentFile=/{OPTIONS}
Restart=on-failure
RestartSec=3
"""
PROFILE, ENVIRONMENT = Path("etc/profile.d/hyperpod-slurm.sh"), Path("etc/environment")
WITHIN_S = 120


def apply(context: Context, system: System = SYSTEM) -> None:
    """Have Slurm's commands work here in every shell.

    sackd, which images with Slurm 23.11 or newer may have, keeps the configuration in /run/slurm/conf, where the commands of any
    shell look, Session Manager's included. Without it they are told by the environment to ask a controller each time.
    """
    for unit in ("slurmd", "slurmctld"):
        daemon.never_run(unit, system)
    addresses = ",".join(controllers.reachable(context, system))
    sackd = system.find("sackd")
    if sackd:
        _run_sackd(sackd, addresses, system)
    else:
        _tell_shells(addresses, system)
    environment = {} if sackd else {"SLURM_CONF_SERVER": addresses}
    patience = Patience(WITHIN_S, first_pause_s=0.2, longest_pause_s=5, clock=system.clock)
    retry("Slurm's commands", lambda: controllers.answering(system, environment), patience)


def _run_sackd(sackd: Path, addresses: str, system: System) -> None:
    options, own_unit = system.root / OPTIONS, system.root / daemon.UNITS / "sackd.service"
    put(options, f"SACKD_OPTIONS=--conf-server={addresses}\n")
    if not (system.root / UNIT).exists() and put(own_unit, SERVICE.format(sackd=sackd)):
        system.run("systemctl", "daemon-reload")
    daemon.run_with("sackd", [options, daemon.drop_in("sackd", DROP_IN, system)], system)


def _tell_shells(addresses: str, system: System) -> None:
    """Set SLURM_CONF_SERVER for login shells, and for all that PAM starts."""
    put(system.root / PROFILE, f"export SLURM_CONF_SERVER={addresses}\n")
    environment = system.root / ENVIRONMENT
    lines = environment.read_text().splitlines() if environment.exists() else []
    others = [line for line in lines if not line.startswith("SLURM_CONF_SERVER=")]
    put(environment, "\n".join([*others, f"SLURM_CONF_SERVER={addresses}"]) + "\n")
