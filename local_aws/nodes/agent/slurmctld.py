"""The agent's commands for Slurm's controller: give up nodes that leave, reload the configuration, reserve nodes."""

import logging
from collections.abc import Callable

from local_aws.builds.errors import HostError
from local_aws.nodes.agent.machine import Machine
from local_aws.nodes.hub import Hub

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
# Flags and reservation as AWS documents them: maintenance, without an effect on running jobs.
_RESERVE = """
systemctl is-active --quiet slurmctld || exit 1
name=$1; shift
hosts=$(IFS=,; echo "$*")
timeout 20 scontrol update ReservationName="$name" Nodes="$hosts" 2>/dev/null || timeout 20 scontrol create reservation \\
    ReservationName="$name" Nodes="$hosts" Users=root StartTime=now Duration=1-0 Flags=MAINT,IGNORE_JOBS || exit 1
for host; do
    jobs=$(timeout 20 squeue --noheader --all --states=RUNNING,COMPLETING,SUSPENDED --nodelist="$host") || exit 1
    [ -z "$jobs" ] || echo "busy $host"
done
"""
_RELEASE = """
systemctl is-active --quiet slurmctld || exit 1
timeout 20 scontrol delete ReservationName="$1"
"""


def give_up(hub: Hub, machine: Machine, hosts: list[str]) -> bool:
    """Make slurmctld end all jobs on ``hosts``, and wait for that; return whether it runs on the machine."""
    return _run(hub, machine, _GIVE_UP, *hosts)


def reconfigure(hub: Hub, machine: Machine) -> bool:
    """Make slurmctld reload its configuration; return whether it runs on the machine."""
    return _run(hub, machine, _RECONFIGURE)


def reserve(hub: Hub, machine: Machine, name: str, hosts: list[str]) -> set[str] | None:
    """Reserve ``hosts`` for maintenance, and return those with jobs; None if no slurmctld on the machine does it."""
    lines: list[str] = []
    done = _run(hub, machine, _RESERVE, name, *hosts, on_line=lines.append)
    _log.info("%s: %s", name, lines)
    return {line.removeprefix("busy ") for line in lines if line.startswith("busy ")} if done else None


def release(hub: Hub, machine: Machine, name: str) -> bool:
    """Delete a reservation; return whether slurmctld on the machine did it."""
    return _run(hub, machine, _RELEASE, name)


def _run(hub: Hub, machine: Machine, script: str, *words: str, on_line: Callable[[str], None] = _log.info) -> bool:
    try:
        return hub.run(machine.id, "sh", "-c", script, "agent", *words, on_line=on_line) == 0
    except (HostError, OSError) as error:  # it is down
        _log.info("%s", error)
        return False
