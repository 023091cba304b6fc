"""The nodes of a cluster as the Kubernetes API shows them, with HyperPod's labels."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cli.kubernetes.client import OperatorClient
from cli.result import Json
from config.operation_names import node_name

NODES = "/api/v1/nodes"
PREFIX = "sagemaker.amazonaws.com/"
CLUSTER, HEALTH = f"{PREFIX}cluster-name", f"{PREFIX}node-health-status"
DEEP_CHECKS = (f"{PREFIX}deep-health-check-status", f"{PREFIX}deep-health-check")
"""AWS's documentation has the first name, and a post on AWS's blog prints the second."""
FAULT = f"{PREFIX}fault-"
REASON = "hyperpod-cdk/drained"
"""The annotation with the reason of `./hpod drain`, and the taint beside its cordon."""
SCHEDULABLE, PENDING = "Schedulable", "UnschedulablePending"
READY, NOT_READY, CORDONED = "Ready", "NotReady", "SchedulingDisabled"


@dataclass(frozen=True)
class KubernetesNode:
    """A node: its conditions, HyperPod's labels, and whether it takes new pods."""

    name: str
    is_ready: bool
    is_cordoned: bool
    health: str = ""
    """HyperPod's label, such as Schedulable; empty without it."""
    deep_check: str = ""
    problem: str = ""
    """Conditions that are not as they should be, and HyperPod's fault labels; empty if there are none."""
    reason: str = ""
    boot_id: str = ""

    @property
    def state(self) -> str:
        """Return the state as kubectl prints it."""
        return f"{READY if self.is_ready else NOT_READY}{f',{CORDONED}' if self.is_cordoned else ''}"

    @property
    def is_up(self) -> bool:
        """Return whether its kubelet reports and HyperPod lets pods start on it."""
        return self.is_ready and self.health in ("", SCHEDULABLE)

    @property
    def is_in_recovery(self) -> bool:
        """Return whether HyperPod is about to replace or reboot it."""
        return self.health.startswith(PENDING)

    def data(self) -> Json:
        """Return the node for JSON."""
        return {
            "state": self.state,
            "health_status": self.health or None,
            "deep_health_check_status": self.deep_check or None,
            "message": "; ".join(filter(None, (self.problem, self.reason))) or None,
        }


def kubernetes_nodes(client: OperatorClient) -> dict[str, KubernetesNode]:
    """Return HyperPod's nodes by name, in order."""
    found = (node_of(each) for each in client.items(NODES) if each["metadata"]["name"].startswith(node_name("i-")))
    return {node.name: node for node in sorted(found, key=lambda node: node.name)}


def node_of(live: Mapping[str, Any]) -> KubernetesNode:
    """Return a node from its object."""
    metadata, spec, status = live["metadata"], live.get("spec") or {}, live.get("status") or {}
    labels: Mapping[str, str] = metadata.get("labels") or {}
    conditions = {each["type"]: each for each in status.get("conditions") or ()}
    return KubernetesNode(
        metadata["name"],
        (conditions.get(READY) or {}).get("status") == "True",
        bool(spec.get("unschedulable")) or any(each["key"] == REASON for each in spec.get("taints") or ()),
        labels.get(HEALTH, ""),
        next((labels[name] for name in DEEP_CHECKS if name in labels), ""),
        "; ".join([*_bad(conditions), *(f"{name}: {text}" for name, text in labels.items() if name.startswith(FAULT))]),
        (metadata.get("annotations") or {}).get(REASON, ""),
        (status.get("nodeInfo") or {}).get("bootID", ""),
    )


def _bad(conditions: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return the conditions that name a problem: Ready that is not True, and any other that is not False."""
    return [
        f"{name} is {each.get('status')}: {each.get('message') or each.get('reason') or 'no message'}"
        for name, each in conditions.items()
        if each.get("status") != ("True" if name == READY else "False")
    ]
