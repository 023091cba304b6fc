"""What every action on nodes needs: the nodes, a shell on them, the scheduler, and lines of progress."""

import getpass
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cli.counted import first_of
from cli.deployment import Deployment
from cli.errors import CommandError, RefusedError, UnreachableError
from cli.node_actions.kubernetes import Kubernetes, KubernetesHost
from cli.node_actions.slurm import Slurm, SlurmNode
from cli.node_directory import Node, NodeDirectory, node_directory, session_shell
from cli.remote.sessions import missing_plugin
from cli.remote.shell import Shell
from cli.result import Show, Table, ignore
from config.instance_group import Role
from config.model import Orchestrator

Scheduler = Slurm | Kubernetes
Host = SlurmNode | KubernetesHost
"""A node in the scheduler."""
SHOWN = 10
WITHOUT_SCHEDULER = "pass --no-drain to go on without draining"


@dataclass(frozen=True)
class Site:
    """A deployed cluster with its nodes; ``scheduler`` is None if it cannot be reached."""

    deployment: Deployment
    directory: NodeDirectory
    shell: Shell | None
    scheduler: Scheduler | None
    show: Show = field(default=ignore)
    named: dict[frozenset[str], Sequence[str]] = field(default_factory=dict, compare=False)
    """The operator's words by the instance ids that they name."""

    @classmethod
    def of(
        cls,
        deployment: Deployment,
        *,
        drain: bool = True,
        shell: Shell | None = None,
        show: Show = ignore,
        fix: str = WITHOUT_SCHEDULER,
    ) -> "Site":
        """Return the site; raise an CommandError with the fix if ``drain`` requires the scheduler, which cannot be reached."""
        reason = "" if shell else missing_plugin()
        if shell is None and not reason:
            shell = session_shell(deployment)
        directory = node_directory(deployment, shell)
        scheduler = Kubernetes(deployment.kubernetes) if _is_eks(deployment) else _on(shell, directory) if shell else None
        if scheduler:
            reason = _why_unreachable(scheduler, drain=drain)
        if drain and reason:
            raise CommandError(f"cannot reach {_name(deployment)}: {reason}; {fix}")
        return cls(deployment, directory, shell, None if reason else scheduler, show)

    @property
    def name(self) -> str:
        """Return the name of the cluster file."""
        return self.deployment.config.name

    @property
    def cluster(self) -> str:
        """Return the name of the cluster at AWS."""
        return self.directory.cluster

    @property
    def sagemaker(self) -> Any:
        """Return a client of SageMaker."""
        return self.deployment.client("sagemaker")

    def select(self, names: Sequence[str]) -> tuple[Node, ...]:
        """Return the nodes of these names, each once, with HyperPod's names if these are known."""
        ids = {name: frozenset(node.instance for node in self.directory.find(name)) for name in names}
        found = frozenset[str]().union(*ids.values())
        self.named.update({of_name: [name] for name, of_name in ids.items()})
        self.named[found] = list(ids)
        return tuple(node for node in self.directory.named if node.instance in found)

    @property
    def is_eks(self) -> bool:
        """Return whether Kubernetes is the scheduler."""
        return _is_eks(self.deployment)

    @property
    def scheduler_name(self) -> str:
        """Return the name of the scheduler."""
        return _name(self.deployment)

    def in_scheduler(self, nodes: Iterable[Node]) -> dict[str, Host]:
        """Return the compute nodes that the scheduler knows, by host name."""
        hosts = {node.host for node in nodes if node.role not in (Role.CONTROLLER, Role.LOGIN)}
        if self.scheduler is None or not hosts:
            return {}
        known: Mapping[str, Host] = self.scheduler.nodes()
        return {host: node for host, node in known.items() if host in hosts}

    def demand_known(self, nodes: Iterable[Node]) -> None:
        """Raise an CommandError if the scheduler lacks a compute node that is Running: it may run jobs, and cannot be drained."""
        running = [node for node in nodes if node.status == "Running" and node.role not in (Role.CONTROLLER, Role.LOGIN)]
        known = self.in_scheduler(running)
        if unknown := [node.label for node in running if node.host not in known]:
            raise CommandError(f"unknown to {self.scheduler_name}: {first_of(unknown, 10)}; pass --no-drain to go on")

    def again(self) -> "Site":
        """Return the site with its present nodes and controllers."""
        directory = node_directory(self.deployment, self.shell)
        if self.is_eks or self.scheduler is None or self.shell is None:
            return replace(self, directory=directory)
        return replace(self, directory=directory, scheduler=_on(self.shell, directory))

    def reason(self, action: str, text: str = "") -> str:
        """Return the reason of a drained node, with the user who asked for it."""
        return f"hpod {action} by {getpass.getuser()}{f': {text}' if text else ''}"

    def command(self, action: str, nodes: Iterable[Node], *options: str) -> str:
        """Return the command for these nodes: with the operator's words if they name exactly these, else with ten at most."""
        chosen = list(nodes)
        words = self.named.get(frozenset(node.instance for node in chosen))
        more = f" (the first {SHOWN} of {len(chosen)} nodes)" if words is None and len(chosen) > SHOWN else ""
        names = words or [node.label for node in chosen[:SHOWN]]
        return f"`{self.deployment.hpod(action, *names, *options)}`{more}"


def _is_eks(deployment: Deployment) -> bool:
    return deployment.config.orchestrator is Orchestrator.EKS


def _name(deployment: Deployment) -> str:
    return Kubernetes.NAME if _is_eks(deployment) else Slurm.NAME


def _on(shell: Shell, directory: NodeDirectory) -> Slurm:
    """Return Slurm on the controllers, running ones first."""
    return Slurm(shell, sorted(directory.of_role(Role.CONTROLLER), key=lambda node: node.status != "Running"))


def _why_unreachable(scheduler: Scheduler, *, drain: bool) -> str:
    """Return why the scheduler does not answer; empty if it does. Missing rights are an error if ``drain``."""
    try:
        scheduler.nodes()
    except UnreachableError as error:
        if drain and isinstance(error, RefusedError):
            raise
        return str(error)
    return ""


def drained_for(action: str, hosts: Iterable[Host]) -> set[str]:
    """Return the hosts that an earlier or the present run of this action drained."""
    return {each.host for each in hosts if each.is_drained and each.reason.startswith(f"hpod {action} by ")}


def hosts_table(nodes: Collection[Host], scheduler: str = Slurm.NAME) -> Table:
    """Return a table of nodes in the scheduler."""
    return Table(("HOST", scheduler.upper(), "REASON"), [(node.host, node.state, reason_of(node)) for node in nodes])


def reason_of(node: Host) -> str:
    """Return the reason of the node's state; empty if there is none."""
    return "" if node.reason in ("none", "") else node.reason
