"""Kubernetes' view of nodes and pods, with the operations that commands have for Slurm."""

from collections.abc import Callable, Collection
from datetime import UTC, datetime

from cli.errors import UnreachableError
from cli.kubernetes.client import OperatorClient
from cli.kubernetes.nodes import NODES, REASON, SCHEDULABLE, KubernetesNode, kubernetes_nodes
from cli.kubernetes.pods import Pod, pods_on
from cli.node_actions.slurm import Host, Job

ATTEMPTS = 5
CORDONED_BY_OTHERS = "cordoned by another client"


def _host(node: KubernetesNode, *, has_pods: bool) -> Host:
    """Return a node with the reason if `./hpod` cordoned it. One that is not Ready needs no command to return."""
    return Host(
        node.name,
        node.state if node.health in ("", SCHEDULABLE) else f"{node.state},{node.health}",
        (node.reason or CORDONED_BY_OTHERS) if node.is_cordoned else "",
        is_drained=node.is_cordoned,
        is_idle_and_drained=node.is_cordoned and not has_pods,
        is_up=node.is_up,
        is_in_recovery=node.is_in_recovery,
    )


class Kubernetes:
    """The nodes and pods of the cluster; each operation has a new token, which is valid for 15 minutes."""

    NAME, DAEMON = "Kubernetes", "kubelet"

    def __init__(
        self, open_client: Callable[[], OperatorClient], now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._open, self._now = open_client, now

    def nodes(self) -> dict[str, Host]:
        """Return all nodes by name."""
        with self._open() as client:
            found = kubernetes_nodes(client)
            busy = {pod.node for pod in pods_on(client, frozenset(found)) if not pod.returns}
        return {name: _host(node, has_pods=name in busy) for name, node in found.items()}

    def jobs(self, hosts: Collection[str] | None = None) -> list[Job]:
        """Return the pods on the nodes, except those that belong to their node."""
        with self._open() as client:
            chosen = frozenset(kubernetes_nodes(client)) if hosts is None else frozenset(hosts)
            return [self._job(pod) for pod in pods_on(client, chosen)] if chosen else []

    def drain(self, hosts: Collection[str], reason: str) -> None:
        """Stop new pods on the nodes, and evict those that another node can run."""
        with self._open() as client:
            for host in sorted(hosts):
                _cordon(client, host, reason)
        self.evict(hosts)

    def evict(self, hosts: Collection[str]) -> set[str]:
        """Evict the pods that another node can run, and return the ids of those that would return to a cordoned node.

        Pods that a disruption budget keeps stay until it allows that.
        """
        if not hosts:
            return set()
        with self._open() as client:
            found = [pod for pod in pods_on(client, frozenset(hosts)) if not pod.is_job]
            for pod in found:
                if not pod.returns:
                    client.evict(pod.namespace, pod.name)
        return {pod.id for pod in found if pod.returns}

    def resume(self, hosts: Collection[str]) -> None:
        """Return the nodes to service."""
        with self._open() as client:
            for host in sorted(hosts):
                _cordon(client, host, None)

    def allow_checks(self, hosts: Collection[str]) -> None:
        """Remove our taint from drained nodes: HyperPod checks no nodes with taints of others. The cordon stays."""
        with self._open() as client:
            for name, node in kubernetes_nodes(client).items():
                if name in hosts and node.reason:
                    _cordon(client, name, node.reason, taint=False)

    def boots(self) -> dict[str, str]:
        """Return an identifier of the present boot of each node that is Ready, by name."""
        with self._open() as client:
            return {name: node.boot_id for name, node in kubernetes_nodes(client).items() if node.is_ready and node.boot_id}

    def _job(self, pod: Pod) -> Job:
        elapsed = str(self._now() - pod.started).partition(".")[0] if pod.started else "-"
        return Job(pod.id, pod.owner or "-", pod.waiting or pod.phase, elapsed, pod.node, pod.name)


def _cordon(client: OperatorClient, host: str, reason: str | None, *, taint: bool = True) -> None:
    """Cordon a node for a reason, or uncordon it without one. A reboot by HyperPod removes the cordon, but not our taint."""
    # Seen on AWS: audit log of 2026-09-09 in yuhuiaws/GPU-Fault-Recovery-System.
    for _ in range(ATTEMPTS):
        live = client.get(f"{NODES}/{host}") or {"metadata": {}, "spec": {}}
        others = [each for each in live["spec"].get("taints") or () if each["key"] != REASON]
        taints = [*others, {"key": REASON, "effect": "NoSchedule"}] if reason and taint else others
        spec = {"unschedulable": True if reason else None, "taints": taints}
        # HyperPod's own taints must not be lost if it adds one in between.
        metadata = {"resourceVersion": live["metadata"].get("resourceVersion"), "annotations": {REASON: reason}}
        if client.merge(f"{NODES}/{host}", {"spec": spec, "metadata": metadata}):
            return
    raise UnreachableError(f"node {host}: other clients keep changing it", "try again")
