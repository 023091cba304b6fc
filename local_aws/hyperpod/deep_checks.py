"""Deep health checks of nodes: whether one fails, and the log streams of the results, as AWS prints them."""

import json
import uuid
from dataclasses import dataclass, field

from local_aws import faults
from local_aws.clock import host_now
from local_aws.hyperpod.logs import NodeLog
from local_aws.hyperpod.model import Cluster, Node

FAULT = "hyperpod:DeepHealthCheck"


@dataclass(frozen=True)
class ResultLog(NodeLog):
    """The log stream of the results of one check."""

    id: str = field(default_factory=lambda: str(uuid.uuid4()))

    @property
    def stream(self) -> str:
        """Return the stream's name."""
        return f"DeepHealthCheckResults/{self.id}"


def ordered_failure(node: Node) -> str:
    """Return why the node fails its check at the start, if a fault with its id or group as target orders that."""
    fault = faults.take(FAULT, "fail", target=f"{node.group}/{node.id}")
    return fault.message if fault else ""


def write_result(log: ResultLog, failure: str) -> None:
    """Write the result of a node's check."""
    type_name = log.node.type.removeprefix("ml.")
    text = (
        f"Encountered FaultyInstance. Replace the Instance. Region: {log.cluster.region}, InstanceType: {type_name}. "
        f"ERROR:{failure}"
    )
    line = {
        "level": "error" if failure else "info",
        "ts": host_now().strftime("%Y-%m-%dT%H:%M:%SZ"),
        "msg": text if failure else "Deep health check passed",
    }
    log.write([json.dumps(line)])


def set_result(cluster: Cluster, node: Node, failure: str) -> None:
    """Set the state of a node that was checked."""
    node.status, node.message = ("Failure", failure) if failure else ("Running", "")
    node.deep_check = "Failed" if failure else "Passed"
    if failure and cluster.eks_arn:
        node.recovery = "Replacement"
