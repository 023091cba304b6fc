"""The state of the embedded HyperPod: clusters, their instance groups and their nodes."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from local_aws.clock import AwsTime, clock
from local_aws.hyperpod.service_behaviour import replaced_keep_address
from local_aws.json_service import Call, Json
from local_aws.network_interfaces import Interface

# Protects everything below; actions on the schedule take it, too.
lock = threading.RLock()


IMAGE = ("ImageId", "ImageReleaseVersion")
"""The members of a group that a software update changes."""


@dataclass
class Node:
    """An instance of a cluster; ``spec`` is its group's specification at launch."""

    id: str
    number: int
    spec: Json
    interfaces: list[Interface] = field(default_factory=list)
    status: str = "Pending"
    message: str = ""
    launched: AwsTime = field(default_factory=clock.moment)
    software_updated: datetime | None = None
    recovery: str = ""  # `Replacement` or `Reboot`, if HyperPod recovers the node or would
    deep_check: str = ""  # `InProgress`, `Passed` or `Failed`

    @property
    def group(self) -> str:
        """Return the name of its instance group."""
        return str(self.spec["InstanceGroupName"])

    @property
    def type(self) -> str:
        """Return its instance type; of several types of the group, the first."""
        return instance_type(self.spec)

    @property
    def address(self) -> str:
        """Return its private address; empty outside a VPC of the account."""
        return self.interfaces[0].address if self.interfaces else ""

    @property
    def stays(self) -> bool:
        """Return whether the node is to be kept."""
        return self.status != "ShuttingDown"


@dataclass
class Group:
    """An instance group: its specification, and the result of its last software update."""

    spec: Json
    status: str = "Creating"
    software_status: str | None = None

    @property
    def name(self) -> str:
        """Return the group's name."""
        return str(self.spec["InstanceGroupName"])

    @property
    def target(self) -> int:
        """Return the desired number of nodes."""
        return int(self.spec["InstanceCount"])


@dataclass
class Change:
    """A change in progress: the nodes to start, the nodes to remove, and the state for a rollback."""

    kind: str
    waiting_for: set[str] = field(default_factory=set)
    leaving: list[Node] = field(default_factory=list)
    before: dict[str, Group] = field(default_factory=dict)
    launched: bool = False
    ordered_failure: str | None = None
    failures: list[str] = field(default_factory=list)  # the node of each failed start in a software update


@dataclass
class Cluster:
    """A cluster; ``settings`` are the fields of CreateCluster and UpdateCluster besides groups and tags."""

    account: str
    region: str
    partition: str
    name: str
    id: str
    settings: Json
    tags: dict[str, str]
    groups: dict[str, Group]
    nodes: list[Node] = field(default_factory=list)
    status: str = "Creating"
    failure: str = ""
    created: AwsTime = field(default_factory=clock.moment)
    change: Change | None = None
    stale: tuple[float, Json | None] | None = None  # until when DescribeCluster shows this; None: it does not find the cluster
    events: list[Json] = field(default_factory=list)
    operations: list[Json] = field(default_factory=list)
    access_entries: list[str] = field(default_factory=list)  # principals of the EKS access entries that HyperPod created

    @property
    def arn(self) -> str:
        """Return the cluster's ARN, which ends in its id."""
        return f"arn:{self.partition}:sagemaker:{self.region}:{self.account}:cluster/{self.id}"

    @property
    def eks_arn(self) -> str:
        """Return the ARN of the EKS cluster that orchestrates it; empty with Slurm."""
        return str(((self.settings.get("Orchestrator") or {}).get("Eks") or {}).get("ClusterArn", ""))

    @property
    def continuous(self) -> bool:
        """Return whether nodes are provisioned continuously instead of all or none."""
        return self.settings.get("NodeProvisioningMode") == "Continuous"

    @property
    def log_group(self) -> str:
        """Return the CloudWatch log group of the nodes."""
        return f"/aws/sagemaker/Clusters/{self.name}/{self.id}"

    def nodes_of(self, group: str) -> list[Node]:
        """Return the nodes of a group that are to be kept."""
        return [node for node in self.nodes if node.group == group and node.stays]

    def in_replacement(self, group: str) -> list[Node]:
        """Return the nodes of a group whose successors take over the address."""
        old = [node for node in self.nodes if node.group == group and not node.stays and node.recovery == "Replacement"]
        return [node for node in old if node.interfaces] if replaced_keep_address() and not self.eks_arn else []

    def node(self, node_id: str) -> Node | None:
        """Return the node with this id, or None."""
        return next((node for node in self.nodes if node.id == node_id), None)


_clusters: dict[tuple[str, str], dict[str, Cluster]] = {}


def clusters(account: str, region: str) -> dict[str, Cluster]:
    """Return all clusters of an account's region, by name."""
    return _clusters.setdefault((account, region), {})


def find(call: Call, name_or_arn: str) -> Cluster | None:
    """Return the cluster with this name or ARN, or None."""
    for cluster in clusters(call.account, call.region).values():
        if name_or_arn in (cluster.name, cluster.arn):
            return cluster
    return None


def is_under_check(cluster: Cluster) -> bool:
    """Return whether a deep health check that was started on demand is in progress."""
    return any(each["Type"] == "DeepHealthCheck" and each["Status"] == "InProgress" for each in cluster.operations)


def instance_type(spec: Json) -> str:
    """Return the instance type of a group's nodes; of several types, the first."""
    return str(spec.get("InstanceType") or spec["InstanceRequirements"]["InstanceTypes"][0])


def nodes_by_type(account: str, region: str, type_name: str) -> Iterator[Node]:
    """Yield all nodes of an instance type in an account's region."""
    for cluster in clusters(account, region).values():
        yield from (node for node in cluster.nodes if node.type == type_name)


def everything() -> list[Cluster]:
    """Return the clusters of all accounts and regions."""
    return [cluster for region in _clusters.values() for cluster in region.values()]


def reset() -> None:
    """Delete all clusters."""
    _clusters.clear()
