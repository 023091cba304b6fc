"""Slurm's view of nodes and jobs, through a session to a controller; Kubernetes' view has the same form."""

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
_FLAGS, _ABSENT = "!$@^-+", "~#%"
"""Suffixes of states; https://slurm.schedmd.com/sinfo.html lists them. With the second ones, the node has not registered."""


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
class Host:
    """A node in the scheduler."""

    host: str
    state: str
    """As the scheduler's own commands print it."""
    reason: str = ""
    """Why it is drained or down."""
    by: str = ""
    """Who set the reason; empty with Kubernetes, where the reason names the user."""
    is_drained: bool = False
    """Whether it takes no new jobs or pods."""
    is_idle_and_drained: bool = False
    """Whether no job runs on it, either."""
    is_up: bool = False
    """Whether its daemon responds, and HyperPod lets pods start on it."""
    is_down: bool = False
    """Whether it needs a command to return, but was not drained."""
    is_in_recovery: bool = False
    """Whether HyperPod replaces or reboots it."""


def slurm_host(host: str, state: str, by: str, reason: str) -> Host:
    """Return a node from the fields that sinfo prints; with a job on it, it is draining."""
    plain = state.rstrip(_FLAGS + _ABSENT + _NOT_RESPONDING)
    return Host(
        host,
        state,
        reason,
        by,
        is_drained=plain in DRAINED,
        is_idle_and_drained=plain == "drained",
        is_up=state.rstrip(_FLAGS) in RESPONDING,
        is_down=state.startswith(DOWN),
        is_in_recovery=reason.startswith(RECOVERY),
    )


class Slurm:
    """Slurm's commands on the first controller that can be reached."""

    NAME, DAEMON = "Slurm", "slurmd"

    def __init__(self, shell: Shell, controllers: Sequence[Node]) -> None:
        self._shell, self._controllers = shell, list(controllers)

    def nodes(self) -> dict[str, Host]:
        """Return all nodes by host name."""
        lines = self._run("sinfo", "--noheader", "--all", "--Node", "--format=%N|%T|%u|%E").splitlines()
        found = (slurm_host(*(part.strip() for part in line.split("|", 3))) for line in lines if line.count("|") >= 3)
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
        problems: list[SessionError | UnreachableError] = []
        for controller in list(self._controllers):
            try:
                output = self._shell.run(controller.target, f"{SLURM_PATH} {shlex.join(words)}", TIMEOUT_S)
            except SessionError as error:
                problems.append(error)
            else:
                if output.status == 0:
                    return output.text
                text = " ".join(output.text.split())[-300:]
                problems.append(UnreachableError(f"{controller.label}: {words[0]} failed: {text}"))
            self._controllers.append(self._controllers.pop(self._controllers.index(controller)))
        if len(problems) == 1:
            raise UnreachableError(problems[0].message, problems[0].fix)
        raise UnreachableError("; ".join(map(str, problems)) or "the cluster has no controller")
