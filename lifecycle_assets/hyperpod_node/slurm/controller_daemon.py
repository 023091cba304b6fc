"""Start slurmctld and wait until it responds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.slurm import configuration, controllers, daemon

if TYPE_CHECKING:
    from hyperpod_node.slurm.slurm_conf import SlurmConf
    from hyperpod_node.system import System

TIMEOUT_S = 120
STATE_FOLDER = "/var/spool"  # slurm.conf's default
OTHER_CLUSTER = "to override this safety check"  # in slurmctld's error about a cluster mismatch
# systemd restarts a failed controller at once, without a limit. slurm.conf is completed before slurmctld reads it: slurmctld
# aborts the jobs on a node that has lost its sockets or GPUs in slurm.conf, even for a second.
DROP_IN = """\
[Unit]
After=munge.service remote-fs.target slurmdbd.service
StartLimitIntervalSec=0

[Service]
ExecStartPre=-+{complete} --once
Restart=on-failure
RestartSec=1
"""


def start(conf: SlurmConf, complete: str, system: System) -> None:
    """Run slurmctld, with ``complete`` as the command that completes slurm.conf, and wait until it responds."""
    daemon.drop_in("slurmctld", DROP_IN.format(complete=complete), system)
    is_first_start = not daemon.was_started("slurmctld", system)
    restarted = daemon.ensure_running("slurmctld", configuration.files(system), system)
    try:
        daemon.wait_for("slurmctld", "slurmctld", lambda: _is_up(conf, system), TIMEOUT_S, system)
    except NodeError:
        output = daemon.journal("slurmctld", system, lines=40)
        if OTHER_CLUSTER in output:
            raise NodeError(_cluster_mismatch(conf, output)) from None
        raise
    if restarted and not is_first_start:  # running slurmds fetch the files only then
        controllers.reconfigure(system, TIMEOUT_S)


def forget_generated_id(conf: SlurmConf, system: System) -> None:
    """Stop a slurmctld that HyperPod's image started without accounting, and delete the cluster id that it generated.

    With another id than the database's, slurmctld does not start. On a node's first start there are no jobs to lose; later, and
    on a shared file system, the id belongs to the database.
    """
    folder = system.path(Path(conf.value("StateSaveLocation") or STATE_FOLDER))
    if daemon.was_started("slurmctld", system) or not daemon.is_active("slurmctld", system):
        return
    system.run("systemctl", "stop", "slurmctld")
    (folder / "clustername").unlink(missing_ok=True)


def _is_up(conf: SlurmConf, system: System) -> None:
    """Raise unless slurmctld on this host responds."""
    hosts = {system.host, *(c.name for c in conf.controllers if c.name.split(".")[0] == system.host)}
    if hosts.isdisjoint(controllers.answering(system)):
        raise NodeError("no response yet")


def _cluster_mismatch(conf: SlurmConf, output: str) -> str:
    """Return the error for a state folder of another cluster than the database or slurm.conf."""
    folder = re.findall(r"Remove (\S+)/clustername", output)[-1:] or [conf.value("StateSaveLocation") or "StateSaveLocation"]
    mismatch = re.findall(r"CLUSTER \w+ MISMATCH", output)[-1:] or ["the clusters do not match"]
    return (
        f"slurmctld reports {mismatch[0]}: {folder[0]} and the accounting database belong to different clusters; "
        f"if no other cluster uses {folder[0]}, delete {folder[0]}/clustername and run the script again to keep its "
        f"jobs; otherwise use another slurm.state_folder or database for this cluster"
    )
