"""slurmctld, started and answering."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError
from hyperpod_node.retry import RetryPolicy
from hyperpod_node.slurm import configuration, controllers, daemon

if TYPE_CHECKING:
    from hyperpod_node.slurm.slurm_conf import SlurmConf
    from hyperpod_node.system import System

TIMEOUT_S = 120
OTHER_CLUSTER = "to override this safety check"  # the end of what slurmctld says then; before it, which two do not agree
# A controller that dies is back at once, however often. Nodes that the agent has written anew are completed before slurmctld
# reads them: it aborts the jobs on a node whose sockets or GPUs are gone from slurm.conf, be it for a second.
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
    """Have slurmctld run with the files as they are now, completed by ``complete``, and wait until it says that it is up."""
    daemon.drop_in("slurmctld", DROP_IN.format(complete=complete), system)
    daemon.ensure_running("slurmctld", configuration.files(system), system)
    policy = RetryPolicy(TIMEOUT_S, first_pause_s=0.1, longest_pause_s=5, clock=system.clock)
    try:
        daemon.wait_for("slurmctld", "slurmctld", lambda: _is_up(conf, system), policy, system)
    except NodeError:
        said = daemon.journal("slurmctld", system, lines=40)
        if OTHER_CLUSTER in said:
            raise NodeError(_other_cluster(conf, said)) from None
        raise


def _is_up(conf: SlurmConf, system: System) -> None:
    """Raise unless slurmctld on this host answers."""
    hosts = {system.host, *(c.name for c in conf.controllers if c.name.split(".")[0] == system.host)}
    if hosts.isdisjoint(controllers.answering(system)):
        raise NodeError("it does not answer yet")


def _other_cluster(conf: SlurmConf, said: str) -> str:
    """What to do about a state folder that is of another cluster than the database or slurm.conf; nothing here deletes either."""
    folder = re.findall(r"Remove (\S+)/clustername", said)[-1:] or [conf.value("StateSaveLocation") or "StateSaveLocation"]
    mismatch = re.findall(r"CLUSTER \w+ MISMATCH", said)[-1:] or ["the clusters do not match"]
    return (
        f"slurmctld says {mismatch[0]}: {folder[0]} and the accounting database are of different clusters, one of them kept "
        f"from an older one; if no other cluster uses {folder[0]}, remove {folder[0]}/clustername and run the script again, "
        f"and its jobs go on; else give this cluster a slurm.state_folder or a database of its own"
    )
