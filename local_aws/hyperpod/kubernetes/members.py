"""The nodes of a HyperPod cluster as Kubernetes must see them: the desired state, a copy that needs no lock."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from local_aws.hyperpod.model import Cluster, Node
from local_aws.json_service import Json
from local_aws.network_interfaces import find_subnet

PREFIX = "sagemaker.amazonaws.com/"
HEALTH, DEEP_CHECK = f"{PREFIX}node-health-status", f"{PREFIX}deep-health-check-status"
SCHEDULABLE, UNSCHEDULABLE = "Schedulable", "Unschedulable"
PENDING = {f"UnschedulablePending{what}": what for what in ("Replacement", "Reboot")}
"""Health status -> what the node is to undergo."""
_UP = ("Running", "DeepHealthCheckInProgress", "Failure")


@dataclass(frozen=True)
class Member:
    """A node: HyperPod's state of it, and its place in the cluster."""

    id: str
    group: str
    type: str
    role: str
    address: str
    zone: str
    region: str
    cluster: str
    cluster_id: str
    status: str
    recovery: str
    deep_check: str
    has_deep_checks: bool
    labels: dict[str, str] = field(default_factory=dict)
    taints: tuple[Json, ...] = ()

    @property
    def name(self) -> str:
        """Return the name of the node in Kubernetes."""
        return f"hyperpod-{self.id}"

    @property
    def is_up(self) -> bool:
        """Return whether the node runs, healthy or not."""
        return self.status in _UP and not (self.recovery and self.status == "Pending")

    @property
    def health(self) -> str:
        """Return the node's health status."""
        if self.recovery:
            return f"UnschedulablePending{self.recovery}"
        return SCHEDULABLE if self.status == "Running" else UNSCHEDULABLE

    @property
    def all_labels(self) -> dict[str, str]:
        """Return the labels that HyperPod sets."""
        own = {f"{PREFIX}cluster-name": self.cluster, f"{PREFIX}instance-group-name": self.group, HEALTH: self.health}
        return {**self.labels, **own, **({DEEP_CHECK: self.deep_check} if self.deep_check else {})}

    @property
    def all_taints(self) -> list[Json]:
        """Return the taints that HyperPod sets."""
        own = [] if self.health == SCHEDULABLE else [{"key": HEALTH, "value": self.health, "effect": "NoSchedule"}]
        return [*self.taints, *own]


def members_of(cluster: Cluster) -> Iterator[Member]:
    """Yield the nodes of a cluster; the caller holds the clusters' lock."""
    for node in cluster.nodes:
        yield _member(cluster, node)


def _member(cluster: Cluster, node: Node) -> Member:
    group = cluster.groups.get(node.group)
    config = (group.spec if group else node.spec).get("KubernetesConfig") or {}
    taints = [
        {"key": taint["Key"], "value": taint.get("Value", ""), "effect": taint["Effect"]} for taint in config.get("Taints") or ()
    ]
    subnet = find_subnet(cluster.account, cluster.region, node.interfaces[0].subnet_id) if node.interfaces else None
    return Member(
        id=node.id,
        group=node.group,
        type=node.type,
        role=node.spec["ExecutionRole"],
        address=node.address,
        zone=str(subnet.availability_zone) if subnet else "",
        region=cluster.region,
        cluster=cluster.name,
        cluster_id=cluster.id,
        status=node.status,
        recovery=node.recovery,
        deep_check=node.deep_check,
        has_deep_checks=bool(node.spec.get("OnStartDeepHealthChecks")),
        labels=dict(config.get("Labels") or {}),
        taints=tuple(taints),
    )
