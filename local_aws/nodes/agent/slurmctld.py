"""The agent's commands for Slurm's controller: give up nodes that leave the cluster, and reload the configuration."""

import logging

from local_aws.nodes.agent.machine import Machine
from local_aws.nodes.hub import Hub
from local_aws.nodes.specs import NodesError

_log = logging.getLogger(__name__)
# A job whose node is missing from slurm.conf does not end cleanly: in 24.11, every reconfiguration queued it again and it was
# COMPLETING for ever ("Node count mismatch"). So its node goes DOWN first, which makes Slurm end or requeue the job as after any
# lost node; the other nodes of such a job take KillWait and UnkillableStepTimeout at most, 90 s by default. DRAIN, too: a last
# message of a node that is down makes it idle, and Slurm would send it another job.
_GIVE_UP = """
systemctl is-active --quiet slurmctld || exit 1
for host in "$@"; do
    for state in DRAIN DOWN; do
        timeout 20 scontrol update NodeName="$host" State=$state Reason="leaves the cluster" || true
    done
done
end=$(($(date +%s) + 100))
for job in $(timeout 20 squeue --noheader --states=COMPLETING --format=%A); do
    while [ -n "$(timeout 20 squeue --noheader --states=COMPLETING --jobs="$job" 2>/dev/null)" ]; do
        [ "$(date +%s)" -lt "$end" ] || { echo "job $job is still completing"; break; }
        sleep 0.2
    done
done
"""
# slurmctld adds and removes nodes without a restart since Slurm 23.11. It notifies its standbys and all slurmd.
_RECONFIGURE = """
systemctl is-active --quiet slurmctld || exit 1
case "$(slurmctld -V)" in "slurm 22."*|"slurm 23.02."*) exec systemctl restart slurmctld;; esac
timeout 20 scontrol reconfigure || exec systemctl restart slurmctld
"""


def give_up(hub: Hub, machine: Machine, hosts: list[str]) -> bool:
    """Make slurmctld end all jobs on ``hosts``, and wait for that; return whether it runs on the machine."""
    return _run(hub, machine, _GIVE_UP, *hosts)


def reconfigure(hub: Hub, machine: Machine) -> bool:
    """Make slurmctld reload its configuration; return whether it runs on the machine."""
    return _run(hub, machine, _RECONFIGURE)


def _run(hub: Hub, machine: Machine, script: str, *words: str) -> bool:
    try:
        return hub.run(machine.id, "sh", "-c", script, "agent", *words, on_line=_log.info) == 0
    except (NodesError, OSError) as error:  # it is down
        _log.info("%s", error)
        return False
