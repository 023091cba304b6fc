"""Records of HyperPod's health-monitoring agent, written for a node when a test or a person asks for one.

Two shapes are public: AWS documents that of kernel messages (`details: `), and awslabs/awsome-distributed-ai#1210 shows that of
DCGM (`condition: `, `data: `). With Slurm only a record is written. With EKS the node is marked for replacement: AWS's agent
marks some faults for a reboot, and does not publish which.
"""

import json
from dataclasses import dataclass
from typing import Any

from config.instance_types import instance_type
from local_aws import control
from local_aws.clock import host_now
from local_aws.hyperpod.kubernetes.agent import agents
from local_aws.hyperpod.logs import NodeLog
from local_aws.hyperpod.model import Cluster, Node, everything, lock
from local_aws.json_service import Json

_EVENT = {"HealthMonitoringAgentDetectionEvent": "HealthEvent"}
_DEFAULT_XID = 79
"""The GPU has fallen off the bus."""


@dataclass(frozen=True)
class HealthLog(NodeLog):
    """The log stream of one node's health-monitoring agent."""

    @property
    def stream(self) -> str:
        """Return the stream's name."""
        return f"SagemakerHealthMonitoringAgent/{self.node.group}/{self.node.id}"


def install() -> None:
    """Register the control path: POST {"node": ID, "xid": NUMBER} or {"node": ID, "record": {...}} writes a record."""
    control.route("node-health", _handle)


def write(node_id: str, *, xid: int | None = None, record: Json | None = None) -> Json:
    """Write a record into the node's stream as the agent does, and return it; the node's role must allow that."""
    with lock:
        cluster = next((each for each in everything() if each.node(node_id)), None)
        node = cluster.node(node_id) if cluster else None
    if cluster is None or node is None:
        raise ValueError(f"unknown node {node_id!r}; pass the instance id of a node")
    found = {**(record if record is not None else _dcgm(_DEFAULT_XID if xid is None else xid)), **_EVENT}
    log = HealthLog(cluster, node)
    log.write([json.dumps(found)])
    if cluster.eks_arn:
        with lock:
            node.recovery = node.recovery or "Replacement"  # the node's label; the cluster's agent in Kubernetes acts on it
        agents.wake(cluster)
    return {"node": _name(node), "stream": log.stream, "record": found}


def first_records(cluster: Cluster, node: Node) -> None:
    """Write what the agent of a healthy node in EKS writes when it starts, as AWS shows it."""
    kinds = [("KernelDeadlock", "KernelHasNoDeadlock", "kernel has no deadlock")]
    known = instance_type(node.type)
    if known and known.gpus:
        kinds.append(("NvidiaErrorTerminate", "NvidiaNoErrorRequiredTerminate", "Nvidia no error required terminate"))
    HealthLog(cluster, node).write([json.dumps(_condition(*kind)) for kind in kinds])


def _condition(kind: str, reason: str, message: str) -> Json:
    now = host_now()
    details = {"type": kind, "status": "False", "transition": now.isoformat(), "reason": reason, "message": message}
    head = {"level": "info", "ts": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "msg": "NPD caught ", "condition type: ": kind}
    return {**head, "with condition details ": details, **_EVENT}


def _dcgm(xid: int) -> Json:
    """Return the record of an XID that DCGM reports, with the agent's spelling of the names."""
    return {
        "level": "info",
        "ts": host_now().strftime("%Y-%m-%dT%H:%M:%SZ"),
        "msg": "DCGM Policy Violation found ",
        "condition: ": "XID Error",
        "data: ": {"ErrNum": xid},
    }


def _name(node: Node) -> str:
    return f"{node.group}-{node.number}"


def _handle(request: control.Request) -> Any:
    order = request.json() or {}
    return write(order["node"], xid=order.get("xid"), record=order.get("record"))
