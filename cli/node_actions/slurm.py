"""Slurm's view of nodes and jobs, through a session to a controller."""

import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from cli.errors import UnreachableError
from cli.node_directory import Node
from cli.remote.sessions import SessionError
from cli.remote.shell import SLURM_PATH, Shell
from cli.result import Json

TIMEOUT_S = 60.0
RESPONDING = {"idle", "mixed", "allocated", "completing", "reserved", "planned", "maint", "drained", "draining"}
DRAINED, DOWN = {"drained", "draining"}, "down"
RECOVERY = "Action:"
"""The beginning of Slurm's reason on nodes that HyperPod replaces or reboots."""
_NOT_RESPONDING = "*"
_FLAGS = "~#!%$@^-+"
"""Suffixes of states; https://slurm.schedmd.com/sinfo.html lists them."""


@dataclass(frozen=True)
class Job:
    """A job that runs on nodes."""

    id: str
    user: str
    state: str
    elapsed: str
    hosts: str
    name: str

    def data(self) -> Json:
        """Return the job for JSON."""
        return dict(vars(self))


@dataclass(frozen=True)
class SlurmNode:
    """A node's state in Slurm, with the reason if it is drained or down."""

    host: str
    state: str
    by: str
    reason: str

    @property
    def is_drained(self) -> bool:
        """Return whether it takes no new jobs."""
        return self.state.rstrip(_FLAGS + _NOT_RESPONDING) in DRAINED

    @property
    def is_idle_and_drained(self) -> bool:
        """Return whether it is drained and no job runs on it: with a job it is draining."""
        return self.state.rstrip(_FLAGS + _NOT_RESPONDING) == "drained"

    @property
    def is_up(self) -> bool:
        """Return whether its slurmd responds."""
        return self.state.rstrip(_FLAGS) in RESPONDING

    @property
    def is_down(self) -> bool:
        """Return whether Slurm has set it down."""
        return self.state.startswith(DOWN)

    @property
    def is_in_recovery(self) -> bool:
        """Return whether HyperPod replaces or reboots it."""
        return self.reason.startswith(RECOVERY)


class SlurmError(UnreachableError):
    """No controller ran the command."""


class Slurm:
    """Slurm's commands on the first controller that can be reached."""

    NAME, DAEMON = "Slurm", "slurmd"

    def __init__(self, shell: Shell, controllers: Sequence[Node]) -> None:
        self._shell, self._controllers = shell, list(controllers)

    def nodes(self) -> dict[str, SlurmNode]:
        """Return all nodes by host name."""
        lines = self._run("sinfo", "--noheader", "--all", "--Node", "--format=%N|%T|%u|%E").splitlines()
        found = (SlurmNode(*(part.strip() for part in line.split("|", 3))) for line in lines if line.count("|") >= 3)
        return {node.host: node for node in found}

    def jobs(self, hosts: Collection[str] | None = None) -> list[Job]:
        """Return all jobs that run, or those on these nodes, which Slurm must know."""
        if hosts is not None and not hosts:
            return []
        where = "--states=RUNNING,COMPLETING" if hosts is None else f"--nodelist={','.join(sorted(hosts))}"
        listed = self._run("squeue", "--noheader", "--all", where, "--format=%i|%u|%T|%M|%N|%j")
        return [Job(*line.strip().split("|", 5)) for line in listed.splitlines() if line.count("|") >= 5]

    def drain(self, hosts: Collection[str], reason: str) -> None:
        """Stop new jobs on the nodes."""
        self._update(hosts, "State=DRAIN", f"Reason={reason}")

    def resume(self, hosts: Collection[str]) -> None:
        """Return the nodes to service."""
        self._update(hosts, "State=RESUME")

    def evict(self, _: Collection[str]) -> set[str]:
        """Do nothing: jobs run to their end."""
        return set()

    def allow_checks(self, _: Collection[str]) -> None:
        """Do nothing: HyperPod checks drained nodes of Slurm."""

    def boots(self) -> dict[str, str] | None:
        """Return None: Slurm does not know when nodes booted."""
        return None

    def _update(self, hosts: Collection[str], *fields: str) -> None:
        if hosts:
            self._run("scontrol", "update", f"NodeName={','.join(sorted(hosts))}", *fields)

    def _run(self, *words: str) -> str:
        """Return the output of a command; a controller that cannot be reached is asked last from then on."""
        problems: list[SessionError | SlurmError] = []
        for controller in list(self._controllers):
            try:
                output = self._shell.run(controller.target, f"{SLURM_PATH} {shlex.join(words)}", TIMEOUT_S)
            except SessionError as error:
                problems.append(error)
            else:
                if output.status == 0:
                    return output.text
                text = " ".join(output.text.split())[-300:]
                problems.append(SlurmError(f"{controller.label}: {words[0]} failed: {text}"))
            self._controllers.append(self._controllers.pop(self._controllers.index(controller)))
        if len(problems) == 1:
            raise SlurmError(problems[0].message, problems[0].fix)
        raise SlurmError("; ".join(map(str, problems)) or "the cluster has no controller")
