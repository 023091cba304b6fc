"""Pods as a drain sees them: those that run to their end, and those that another node can run."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from cli.kubernetes.client import OperatorClient

PODS = "/api/v1/pods"
ENDED = ("Succeeded", "Failed")
FEW = 8
"""Up to this many nodes are asked for one by one: a list of all pods of a large cluster has hundreds of pages."""
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
MIRROR = "kubernetes.io/config.mirror"


@dataclass(frozen=True)
class Pod:
    """A pod with its owner and its state."""

    namespace: str
    name: str
    node: str
    phase: str
    owner: str
    """The kind of its controller; empty without one."""
    restart_policy: str
    is_mirror: bool
    started: datetime | None
    waiting: str = ""
    """Why a container or the pod waits, such as ImagePullBackOff; empty if it does not."""
    tolerates_cordon: bool = False

    @property
    def id(self) -> str:
        """Return namespace and name."""
        return f"{self.namespace}/{self.name}"

    @property
    def stays(self) -> bool:
        """Return whether the pod belongs to its node and ends with it: a pod of a DaemonSet, or of the kubelet itself."""
        return self.is_mirror or self.owner in ("DaemonSet", "Node")

    @property
    def is_job(self) -> bool:
        """Return whether the pod runs to its end, or nothing would start it again on another node."""
        return self.restart_policy != "Always" or not self.owner

    @property
    def returns(self) -> bool:
        """Return whether an eviction is useless: its controller's next pod can start on the same cordoned node."""
        return self.tolerates_cordon and not self.is_job


def pods_on(client: OperatorClient, nodes: frozenset[str]) -> list[Pod]:
    """Return the pods on the nodes that have not ended and do not belong to their node."""
    places = [f"spec.nodeName={node}" for node in sorted(nodes)] if len(nodes) <= FEW else [""]
    found = (pod_of(each) for place in places for each in client.items(f"{PODS}?fieldSelector={_unended(place)}"))
    return [pod for pod in found if pod.node in nodes and not pod.stays and pod.phase not in ENDED]


def _unended(place: str) -> str:
    return quote(",".join([*filter(None, [place]), *(f"status.phase!={phase}" for phase in ENDED)]))


def unfinished_pods(client: OperatorClient) -> Iterator[Pod]:
    """Yield the pods that neither run nor have ended."""
    query = quote(",".join(f"status.phase!={phase}" for phase in (*ENDED, "Running")))
    for each in client.items(f"{PODS}?fieldSelector={query}"):
        pod = pod_of(each)
        if pod.phase not in (*ENDED, "Running"):
            yield pod


def pod_of(live: Mapping[str, Any]) -> Pod:
    """Return a pod from its object."""
    metadata, spec, status = live["metadata"], live.get("spec") or {}, live.get("status") or {}
    owner = next((each["kind"] for each in metadata.get("ownerReferences") or () if each.get("controller")), "")
    return Pod(
        metadata["namespace"],
        metadata["name"],
        spec.get("nodeName") or "",
        status.get("phase") or "Unknown",
        owner,
        spec.get("restartPolicy") or "Always",
        MIRROR in (metadata.get("annotations") or {}),
        _time(status.get("startTime")),
        _waiting(status),
        any(_tolerates_cordon(each) for each in spec.get("tolerations") or ()),
    )


def _tolerates_cordon(toleration: Mapping[str, Any]) -> bool:
    """Return whether a toleration matches the taint that Kubernetes adds to a cordoned node, which has no value."""
    key, effect = toleration.get("key"), toleration.get("effect")
    is_any = toleration.get("operator") == "Exists"
    return effect in (None, "", "NoSchedule") and (
        (key == UNSCHEDULABLE and (is_any or not toleration.get("value"))) or (not key and is_any)
    )


def _waiting(status: Mapping[str, Any]) -> str:
    containers = [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
    reasons = [((each.get("state") or {}).get("waiting") or {}).get("reason") for each in containers]
    unscheduled = [
        each.get("reason")
        for each in status.get("conditions") or ()
        if each["type"] == "PodScheduled" and each["status"] == "False"
    ]
    return next((str(reason) for reason in (*reasons, *unscheduled) if reason), "")


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(UTC) if text else None
