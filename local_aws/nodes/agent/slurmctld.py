"""What the agent asks of Slurm's controller: to give up nodes that leave the cluster, and to read its configuration."""

import logging

from local_aws.nodes.agent.machine import Machine
from local_aws.nodes.hub import Hub
from local_aws.nodes.specs import NodesError

_log = logging.getLogger(__name__)
# A job whose node slurm.conf has lost is not ended cleanly: seen in 24.11, it was queued again by every reconfiguration and was
# COMPLETING for ever ("Node count mismatch"). So its node goes down first, by which Slurm ends or queues the job as after any
# lost node; the other nodes of such a job take KillWait and UnkillableStepTimeout at most, 90 s by default. DRAIN, too: a last
# sign of life of a node that is down makes it idle, and another job is sent there.
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
# slurmctld takes nodes in and gives them up without a restart since Slurm 23.11. It tells its standbys and all slurmd.
_RECONFIGURE = """
systemctl is-active --quiet slurmctld || exit 1
case "$(slurmctld -V)" in "slurm 22."*|"slurm 23.02."*) exec systemctl restart slurmctld;; esac
timeout 20 scontrol reconfigure || exec systemctl restart slurmctld
"""


def give_up(hub: Hub, machine: Machine, hosts: list[str]) -> bool:
    """Let slurmctld take all jobs off ``hosts``, and wait for that; tell whether there is one on the machine."""
    return _run(hub, machine, _GIVE_UP, *hosts)


def reconfigure(hub: Hub, machine: Machine) -> bool:
    """Let slurmctld read its configuration; tell whether there is one on the machine."""
    return _run(hub, machine, _RECONFIGURE)


def _run(hub: Hub, machine: Machine, script: str, *words: str) -> bool:
    try:
        return hub.run(machine.id, "sh", "-c", script, "agent", *words, on_line=_log.info) == 0
    except (NodesError, OSError) as error:  # it is down
        _log.info("%s", error)
        return False
