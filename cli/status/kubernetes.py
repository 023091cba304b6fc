"""The part of a report that the Kubernetes API answers: nodes, and pods that do not run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from botocore.exceptions import ClientError

from cli.aws_errors import are_refused, explained
from cli.counted import counted, first_of
from cli.deployment import Deployment
from cli.errors import CommandError, RefusedError
from cli.kubernetes.client import OperatorClient
from cli.kubernetes.nodes import CORDONED, PENDING, KubernetesNode, kubernetes_nodes
from cli.kubernetes.pods import Pod, unfinished_pods
from cli.result import Block, Json
from cli.status.nodes import UNKNOWN, ListedNode, table_of
from config.operation_names import node_name

ABSENT = "not joined"
UNREADABLE = "not readable with this role"
SHOWN, LISTED = 5, 1000


@dataclass(frozen=True)
class KubernetesState:
    """The nodes by name, and the pods that wait; ``problem`` is why both are unknown."""

    nodes: Mapping[str, KubernetesNode]
    pods: Sequence[Pod] = ()
    problem: CommandError | None = None
    pod_problem: CommandError | None = None
    """Why only the pods are unknown, such as missing rights of a team's role."""

    @classmethod
    def read(cls, deployment: Deployment) -> "KubernetesState":
        """Return the state; a report without it is still useful."""
        try:
            with deployment.kubernetes() as client:
                nodes = kubernetes_nodes(client)
                pods, pod_problem = _pods(client)
                return cls(nodes, pods, pod_problem=pod_problem)
        except CommandError as error:
            return cls({}, (), error)
        except ClientError as error:
            if are_refused(error):
                raise
            return cls({}, (), explained("status", error))

    @property
    def problems(self) -> list[CommandError]:
        """Return why parts of the state are unknown."""
        return [problem for problem in (self.problem or self.pod_problem,) if problem]

    def of(self, instance: str) -> KubernetesNode | None:
        """Return the node of an instance, or nothing if it has not joined or nothing is known."""
        return self.nodes.get(node_name(instance))

    def word(self, instance: str) -> str:
        """Return the node's state with `cordoned` for SchedulingDisabled; `not joined` and `unknown` without a node."""
        node = self.of(instance)
        return node.state.replace(CORDONED, "cordoned") if node else UNKNOWN if self.problem else ABSENT

    def lines(self) -> list[str]:
        """Return a line on the nodes, and one on the pods that do not run."""
        if self.problem:
            return [f"Kubernetes: unknown; {self.problem}"]
        ready = sum(node.is_ready for node in self.nodes.values())
        cordoned = sum(node.is_cordoned for node in self.nodes.values())
        more = f", {cordoned} cordoned" if cordoned else ""
        return [f"Kubernetes: {ready} of {counted(len(self.nodes), 'node')} Ready{more}", *self._pod_lines()]

    def _pod_lines(self) -> list[str]:
        if self.pod_problem:
            return [str(self.pod_problem)]
        if not self.pods:
            return []
        named = [f"{pod.id} ({pod.waiting or pod.phase})" for pod in self.pods]
        return [f"pods that do not run: {first_of(named, SHOWN)}"]

    def data(self) -> Json | None:
        """Return the state for JSON; None if it is unknown."""
        if self.problem:
            return None
        pods = [{"name": pod.id, "state": pod.phase, "message": pod.waiting or None} for pod in self.pods]
        return {
            "node_count": len(self.nodes),
            "ready": sum(node.is_ready for node in self.nodes.values()),
            "cordoned": sum(node.is_cordoned for node in self.nodes.values()),
            "pods": None if self.pod_problem else pods,
        }


def _pods(client: OperatorClient) -> tuple[list[Pod], CommandError | None]:
    """Return the pods that wait, or why they are unknown: a team's role may read nodes, but not all pods."""
    try:
        return list(islice(unfinished_pods(client), LISTED)), None
    except RefusedError:
        return [], CommandError(f"pods: {UNREADABLE}", client.access_fix)
    except CommandError as error:
        return [], CommandError(f"pods: unknown; {error.message}", error.fix)


@dataclass(frozen=True)
class EksNodeStatus(ListedNode):
    """A node with its state in Kubernetes."""

    state: KubernetesState

    @property
    def node(self) -> KubernetesNode | None:
        """Return the node in Kubernetes."""
        return self.state.of(self.instance)

    @property
    def has_problem(self) -> bool:
        """Return whether a person should look at the node."""
        is_bad = not self.state.problem and (self.node is None or not self.node.is_up or self.node.is_cordoned)
        return super().has_problem or is_bad

    def data(self) -> Json:
        """Return the node for JSON."""
        return {
            **super().data(),
            "host": node_name(self.instance),
            "kubernetes": self.node.data() if self.node else None,
        }

    def row(self) -> tuple[str, ...]:
        """Return the cells of the node."""
        health = self.node.health.replace(PENDING, "Pending") if self.node else ""
        deep = self.node.deep_check if self.node else ""
        return (self.instance, self.group, self.status, self.state.word(self.instance), health or "-", deep or "-")

    def notes(self) -> list[str]:
        """Return the reasons of problems."""
        node = self.node
        reasons = (self.message, node.problem if node else "", node.reason if node else "")
        return [f"{self.instance}: {reason}" for reason in reasons if reason]


def eks_nodes_table(nodes: Sequence[EksNodeStatus], *, show_all: bool) -> list[Block]:
    """Return the table of nodes of an EKS cluster."""
    head = ("NODE", "GROUP", "STATUS", "KUBERNETES", "HEALTH", "DEEP CHECK")
    return table_of(nodes, head, EksNodeStatus.row, _notes, show_all=show_all)


def _notes(nodes: Sequence[EksNodeStatus]) -> list[str]:
    return [note for node in nodes for note in node.notes()]
