"""What every action on nodes needs: the nodes, a shell on them, Slurm, and lines of progress."""

import getpass
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cli.deployment import Deployment
from cli.errors import OpsError
from cli.node_actions.slurm import Slurm, SlurmError, SlurmNode
from cli.node_directory import Node, NodeDirectory, node_directory, session_shell
from cli.remote.plugin import missing_plugin
from cli.remote.shell import Shell
from cli.result import Json, Show, Table, ignore
from config.instance_group import Role

SHOWN = 10
WITHOUT_SLURM = "pass --no-drain to go on without draining"


@dataclass(frozen=True)
class Site:
    """A deployed cluster with its nodes; ``slurm`` is None if no controller can be reached."""

    deployment: Deployment
    directory: NodeDirectory
    shell: Shell | None
    slurm: Slurm | None
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
        fix: str = WITHOUT_SLURM,
    ) -> "Site":
        """Return the site; raise an OpsError with the fix if ``drain`` requires Slurm and no controller can be reached."""
        reason = "" if shell else missing_plugin()
        if shell is None and not reason:
            shell = session_shell(deployment)
        directory = node_directory(deployment, shell)
        slurm: Slurm | None = None
        if shell:
            slurm = _on(shell, directory)
            reason = _why_unreachable(slurm)
        if drain and reason:
            raise OpsError(f"cannot reach Slurm: {reason}; {fix}")
        return cls(deployment, directory, shell, None if reason else slurm, show)

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

    def in_slurm(self, nodes: Iterable[Node]) -> dict[str, SlurmNode]:
        """Return the compute nodes that Slurm knows, by host name."""
        hosts = {node.host for node in nodes if node.role not in (Role.CONTROLLER, Role.LOGIN)}
        if self.slurm is None or not hosts:
            return {}
        return {host: node for host, node in self.slurm.nodes().items() if host in hosts}

    def demand_known(self, nodes: Iterable[Node]) -> None:
        """Raise an OpsError if Slurm does not list a compute node that is Running: it may run jobs, and cannot be drained."""
        running = [node for node in nodes if node.status == "Running" and node.role not in (Role.CONTROLLER, Role.LOGIN)]
        known = self.in_slurm(running)
        if unknown := [node.label for node in running if node.host not in known]:
            more = f" and {len(unknown) - 10} more" if len(unknown) > 10 else ""
            raise OpsError(f"unknown to Slurm: {', '.join(unknown[:10])}{more}; pass --no-drain to go on")

    def again(self) -> "Site":
        """Return the site with its present nodes and controllers."""
        directory = node_directory(self.deployment, self.shell)
        return replace(self, directory=directory, slurm=_on(self.shell, directory) if self.slurm and self.shell else None)

    def reason(self, action: str, text: str = "") -> str:
        """Return the reason of a drained node, with the user who asked for it."""
        return f"hpod {action} by {getpass.getuser()}{f': {text}' if text else ''}"

    def command(self, action: str, nodes: Iterable[Node], *options: str) -> str:
        """Return the command for these nodes: with the operator's words if they name exactly these, else with ten at most."""
        chosen = list(nodes)
        words = self.named.get(frozenset(node.instance for node in chosen))
        more = f" (the first {SHOWN} of {len(chosen)} nodes)" if words is None and len(chosen) > SHOWN else ""
        names = words or [node.label for node in chosen[:SHOWN]]
        return f"`./hpod {' '.join([action, self.name, *names, *options])}`{more}"


def _on(shell: Shell, directory: NodeDirectory) -> Slurm:
    """Return Slurm on the controllers, running ones first."""
    return Slurm(shell, sorted(directory.of_role(Role.CONTROLLER), key=lambda node: node.status != "Running"))


def _why_unreachable(slurm: Slurm) -> str:
    """Return why no controller answers; empty if one does."""
    try:
        slurm.nodes()
    except SlurmError as error:
        return str(error)
    return ""


def node_data(node: Node) -> Json:
    """Return a node's names for JSON."""
    return {"instance_id": node.instance, "name": node.name or None, "host": node.host or None, "group": node.group}


def hosts_table(nodes: Collection[SlurmNode]) -> Table:
    """Return a table of nodes in Slurm."""
    return Table(("HOST", "SLURM", "REASON"), [(node.host, node.state, _reason(node)) for node in nodes])


def _reason(node: SlurmNode) -> str:
    return "" if node.reason in ("none", "") else node.reason
