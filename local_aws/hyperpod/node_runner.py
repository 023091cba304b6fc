"""Where nodes run: the seam between the service, which decides that a node starts, and what becomes of it then."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from local_aws.hyperpod.model import Cluster, Node
from local_aws.json_service import Json


@dataclass(frozen=True)
class Launch:
    """A node that starts, with all that HyperPod gives it."""

    cluster: Cluster
    node: Node
    resource_config: Json  # what HyperPod writes to /opt/ml/config/resource_config.json


@dataclass(frozen=True)
class Outcome:
    """How a node's start ended: well, or with what to tell the operator."""

    failure: str | None = None


Done = Callable[[Outcome], None]


class NodeRunner(Protocol):
    """Starts and stops nodes. None of it may block: ``done`` is called when the lifecycle script has ended, or the node is back.

    A software update stops a node and starts it again. ``start`` is called without, the others with the clusters' lock held.
    """

    @property
    def takes_its_time(self) -> bool:
        """Whether nodes take the time that they take: then they begin together, and not one after the other as planned."""

    def start(self, launch: Launch, done: Done) -> None:
        """Boot the node and run its lifecycle script."""

    def stop(self, node_id: str) -> None:
        """End the node, if it runs."""

    def reboot(self, node_id: str, done: Done) -> None:
        """Reboot the node; its lifecycle script does not run again."""

    def reset(self) -> None:
        """End all nodes."""


def resource_config(cluster: Cluster) -> Json:
    """The file by which a node learns of its cluster and of all nodes' addresses."""
    groups = [
        {
            "Name": group.name,
            "InstanceType": group.spec.get("InstanceType", ""),
            "Instances": [
                {
                    "InstanceName": f"{group.name}-{node.number}",
                    "AgentIpAddress": node.address,
                    "CustomerIpAddress": node.address,
                    "InstanceId": node.id,
                }
                for node in cluster.nodes_of(group.name)
            ],
        }
        for group in cluster.groups.values()
    ]
    return {"ClusterConfig": {"ClusterArn": cluster.arn, "ClusterName": cluster.name}, "InstanceGroups": groups}
