"""slurmctld, started and answering."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.retry import Patience, retry
from hyperpod_node.slurm import configuration, daemon

if TYPE_CHECKING:
    from hyperpod_node.slurm.slurm_conf import SlurmConf
    from hyperpod_node.slurm.system import System

WITHIN_S = 120
OTHER_CLUSTER = "CLUSTER ID MISMATCH"
# A controller that dies is back at once, however often.
DROP_IN = """\
[Unit]
After=munge.service remote-fs.target slurmdbd.service
StartLimitIntervalSec=0

[Service]
Restart=on-failure
RestartSec=2
"""


def start(conf: SlurmConf, system: System) -> None:
    """Have slurmctld run with the files as they are now, and wait until it says that it is up."""
    files = [daemon.drop_in("slurmctld", DROP_IN, system), *configuration.files(system)]
    daemon.run_with("slurmctld", files, system)
    patience = Patience(WITHIN_S, first_pause_s=0.1, longest_pause_s=5, clock=system.clock)
    retry("slurmctld", lambda: _is_up(conf, system), patience)


def _is_up(conf: SlurmConf, system: System) -> None:
    """Raise unless slurmctld on this host answers; say what it complains of where it does not."""
    try:
        said = system.slurm("scontrol", "ping", timeout_s=30)
    except NodeError as error:
        said = str(error)
    hosts = {system.host, *(c.name for c in conf.controllers if c.name.split(".")[0] == system.host)}
    if any(f" at {host} is UP" in said for host in hosts):
        return
    complaints = daemon.complaints("slurmctld", system)
    if OTHER_CLUSTER in complaints:
        raise NodeError(_other_cluster(conf, complaints))
    raise NodeError(f"it does not answer yet; its journal: {complaints}")


def _other_cluster(conf: SlurmConf, complaints: str) -> str:
    """What to do about a state folder and a database that come from two clusters; nothing here deletes either."""
    folder = conf.value("StateSaveLocation") or "StateSaveLocation"
    return (
        f"the accounting database and {folder} are of different clusters, one of which was kept from an older one: "
        f"if no other cluster uses {folder}, remove {folder}/clustername and its jobs go on; "
        f"else give this cluster a slurm.state_folder or a database of its own ({complaints})"
    )
