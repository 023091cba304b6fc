"""The recovery of nodes: replacement and reboot, for the operations on nodes, failed checks and labels of nodes in EKS."""

from dataclasses import dataclass

from local_aws.durations import duration
from local_aws.hyperpod.changes import begin_update
from local_aws.hyperpod.cluster_events import About, publish_health, record
from local_aws.hyperpod.model import Cluster, Group, Node, is_under_check, lock
from local_aws.hyperpod.node_runner import Outcome
from local_aws.hyperpod.removal import shut_down
from local_aws.hyperpod.starting import runner
from local_aws.schedule import schedule


def replace(cluster: Cluster, nodes: list[Node]) -> None:
    """Replace nodes with new ones."""
    for node in nodes:
        node.recovery = "Replacement"
    shut_down(cluster, nodes)
    begin_update(cluster, {name: Group(dict(group.spec), group.status) for name, group in cluster.groups.items()}, None)


def reboot(cluster: Cluster, nodes: list[Node]) -> None:
    """Reboot nodes; their lifecycle scripts do not run again."""
    for node in nodes:
        node.status, node.recovery = "Pending", "Reboot"
        record(cluster, "Instance is rebooted", About(node=node))
        runner().reboot(node.id, _Reboot(cluster, node).done)


@dataclass(frozen=True)
class _Reboot:
    """The reboot of a node, ignored if the node is removed meanwhile."""

    cluster: Cluster
    node: Node

    def done(self, outcome: Outcome) -> None:
        """Set the node Running after the time that AWS takes."""
        schedule.after(duration("hyperpod.node.reboot"), lambda: self._back(outcome))

    def _back(self, outcome: Outcome) -> None:
        with lock:
            if self.node.status == "Pending":
                self.node.status = "Failure" if outcome.failure else "Running"
                self.node.message, self.node.recovery = outcome.failure or "", ""
                publish_health(self.cluster, self.node, self.node.message)
                record(self.cluster, f"Instance is {self.node.status}", About(node=self.node, failure=self.node.message))


def recovers_nodes(cluster: Cluster) -> bool:
    """Return whether the cluster replaces and reboots faulty nodes."""
    return bool(cluster.settings.get("NodeRecovery", "Automatic") == "Automatic")


def request(cluster: Cluster, node_id: str, what: str) -> bool:
    """Replace or reboot a node whose label in Kubernetes asks for it; return False if the cluster is busy or recovers no nodes.

    With Karpenter, labels have no effect: https://github.com/awslabs/ai-on-sagemaker-hyperpod/pull/87.
    """
    with lock:
        node = cluster.node(node_id)
        is_busy = cluster.status != "InService" or is_under_check(cluster) or cluster.change is not None
        has_karpenter = (cluster.settings.get("AutoScaling") or {}).get("Mode") == "Enable"
        if node is None or node.status != "Running" or is_busy or has_karpenter or not recovers_nodes(cluster):
            return False
        {"Replacement": replace, "Reboot": reboot}[what](cluster, [node])
    return True
