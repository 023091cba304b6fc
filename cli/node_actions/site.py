"""What every action on nodes needs: the nodes, a shell on them, the scheduler, and lines of progress."""

import getpass
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cli.counted import first_of
from cli.deployment import Deployment
from cli.errors import CommandError, RefusedError, UnreachableError
from cli.node_actions.kubernetes import Kubernetes
from cli.node_actions.slurm import Host, Slurm
from cli.node_directory import Node, NodeDirectory, node_directory
from cli.remote.shell import Shell
from cli.result import Show, Table, ignore
from config.instance_group import Role

Scheduler = Slurm | Kubernetes
SHOWN = 10
WITHOUT_SCHEDULER = "pass --no-drain to go on without draining"


@dataclass(frozen=True, eq=False)
class Site(NodeDirectory):
    """The nodes of a cluster with their scheduler, which is None if it cannot be reached."""

    scheduler: Scheduler | None
    show: Show
    words: dict[frozenset[str], Sequence[str]] = field(default_factory=dict)
    """The operator's words by the instance ids that they name."""

    @classmethod
    def of(
        cls,
        deployment: Deployment,
        names: Sequence[str],
        *,
        drain: bool = True,
        shell: Shell | None = None,
        show: Show = ignore,
        fix: str = WITHOUT_SCHEDULER,
    ) -> tuple["Site", tuple[Node, ...]]:
        """Return the site and its nodes of these names; raise a CommandError with the fix if ``drain`` misses the scheduler."""
        found = node_directory(deployment, shell)
        scheduler = _scheduler(found)
        reason = _why_unreachable(scheduler, drain=drain) if scheduler else found.shell_problem
        site = cls(deployment, found.cluster, found.listed, found.shell, found.shell_problem, None if reason else scheduler, show)
        if drain and reason:
            fixes = filter(None, (reason.fix, fix))
            raise CommandError(f"cannot reach {site.scheduler_name}: {reason.message}", "; ".join(fixes))
        return site, site._select(names)

    @property
    def sagemaker(self) -> Any:
        """Return a client of SageMaker."""
        return self.deployment.client("sagemaker")

    def _select(self, names: Sequence[str]) -> tuple[Node, ...]:
        """Return the nodes of these names, each once, with HyperPod's names if these are known."""
        ids = {name: frozenset(node.instance for node in self.find(name)) for name in names}
        found = frozenset[str]().union(*ids.values())
        self.words.update({of_name: [name] for name, of_name in ids.items()})
        self.words[found] = list(ids)
        return tuple(node for node in self.named if node.instance in found)

    @property
    def scheduler_name(self) -> str:
        """Return the name of the scheduler."""
        return Kubernetes.NAME if self.is_eks else Slurm.NAME

    def in_scheduler(self, nodes: Iterable[Node]) -> dict[str, Host]:
        """Return the compute nodes that the scheduler knows, by host name."""
        hosts = {node.host for node in nodes if node.role not in (Role.CONTROLLER, Role.LOGIN)}
        if self.scheduler is None or not hosts:
            return {}
        return {host: node for host, node in self.scheduler.nodes().items() if host in hosts}

    def demand_known(self, nodes: Iterable[Node]) -> None:
        """Raise a CommandError if the scheduler lacks a compute node that is Running: it may run jobs, and cannot be drained."""
        running = [node for node in nodes if node.status == "Running" and node.role not in (Role.CONTROLLER, Role.LOGIN)]
        known = self.in_scheduler(running)
        if unknown := [node.label for node in running if node.host not in known]:
            raise CommandError(f"unknown to {self.scheduler_name}: {first_of(unknown, 10)}", "pass --no-drain to go on")

    def again(self) -> "Site":
        """Return the site with its present nodes and controllers."""
        present = replace(self, listed=node_directory(self.deployment, self.shell).listed)
        return present if self.is_eks or self.scheduler is None else replace(present, scheduler=_scheduler(present))

    def reason(self, action: str, text: str = "") -> str:
        """Return the reason of a drained node, with the user who asked for it."""
        return f"hpod {action} by {getpass.getuser()}{f': {text}' if text else ''}"

    def command(self, action: str, nodes: Iterable[Node]) -> str:
        """Return the command for these nodes: with the operator's words if they name exactly these, else with ten at most."""
        chosen = list(nodes)
        words = self.words.get(frozenset(node.instance for node in chosen))
        more = f" (the first {SHOWN} of {len(chosen)} nodes)" if words is None and len(chosen) > SHOWN else ""
        names = words or [node.label for node in chosen[:SHOWN]]
        return f"`{self.deployment.hpod(action, *names)}`{more}"


def _scheduler(directory: NodeDirectory) -> Scheduler | None:
    """Return Kubernetes, or Slurm on the controllers, running ones first; None without a shell on these."""
    if directory.is_eks:
        return Kubernetes(directory.deployment.kubernetes)
    controllers = sorted(directory.of_role(Role.CONTROLLER), key=lambda node: node.status != "Running")
    return Slurm(directory.shell, controllers) if directory.shell else None


def _why_unreachable(scheduler: Scheduler, *, drain: bool) -> CommandError | None:
    """Return why the scheduler does not answer; None if it does. Missing rights are an error if ``drain``."""
    try:
        scheduler.nodes()
    except UnreachableError as error:
        if drain and isinstance(error, RefusedError):
            raise
        return error
    return None


def hosts_table(site: Site, nodes: Collection[Host]) -> Table:
    """Return a table of nodes in the scheduler."""
    return Table(("HOST", site.scheduler_name.upper(), "REASON"), [(node.host, node.state, reason_of(node)) for node in nodes])


def reason_of(node: Host) -> str:
    """Return the reason of the node's state; empty if there is none."""
    return "" if node.reason in ("none", "") else node.reason
