"""The start of nodes: network interfaces, boot, lifecycle script, deep health checks, Running."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass

from local_aws.clock import host_now
from local_aws.durations import duration
from local_aws.hyperpod import capacity, network
from local_aws.hyperpod.check_only_runner import CheckOnlyRunner
from local_aws.hyperpod.cluster_events import About, record
from local_aws.hyperpod.deep_checks import ResultLog, ordered_failure, set_result, write_result
from local_aws.hyperpod.health_records import first_records
from local_aws.hyperpod.kubernetes.agent import agents
from local_aws.hyperpod.model import IMAGE, Cluster, Group, Node, instance_type, lock
from local_aws.hyperpod.node_runner import Launch, NodeRunner, Outcome
from local_aws.hyperpod.roles import MissingPermissionError
from local_aws.network_interfaces import OutOfAddressesError
from local_aws.schedule import schedule


@dataclass
class _Current:
    """The current node runner."""

    runner: NodeRunner


_seam = _Current(CheckOnlyRunner())


@dataclass(frozen=True)
class Listener:
    """Callbacks for started and failed nodes."""

    up: Callable[[Cluster, Node], None]
    failed: Callable[[Cluster, Node, str], None]
    faulty: Callable[[Cluster, Node], None]
    """Is called for a node that failed its deep health checks, which has status Failure."""


def use(runner: NodeRunner) -> None:
    """Use ``runner`` for all nodes that start from now on."""
    _seam.runner = runner


def runner() -> NodeRunner:
    """Return the current node runner."""
    return _seam.runner


def add_missing_nodes(cluster: Cluster) -> list[Node]:
    """Add new nodes with their network interfaces, up to each group's target.

    Raise NodeStartError and add none if the network or the execution role does not allow it, or if capacity is missing and the
    cluster does not accept a part.
    """
    new: list[Node] = []
    for group in cluster.groups.values():
        count = _available(cluster, group, new, max(0, group.target - len(cluster.nodes_of(group.name))))
        new += [Node(_instance_id(), number, dict(group.spec)) for number in free_numbers(cluster, group)[:count]]
    for node in new:
        _attach(cluster, node, new)
    cluster.nodes += new
    return new


def _available(cluster: Cluster, group: Group, new: list[Node], count: int) -> int:
    """Return how many of ``count`` more nodes of a group can be launched besides ``new``."""
    type_name = instance_type(group.spec)
    others = sum(node.type == type_name for node in new)
    available = max(0, capacity.room(cluster.account, cluster.region, type_name, count + others) - others)
    if available < count:
        failure = capacity.message(type_name)
        if not cluster.continuous:
            raise NodeStartError(failure)
        record(cluster, "Instances were not launched", About(group=group.name, failure=failure))
    return available


def free_numbers(cluster: Cluster, group: Group) -> list[int]:
    """Return the numbers up to the group's target that no node has."""
    taken = {node.number for node in cluster.nodes_of(group.name)}
    return [number for number in range(1, group.target + 1) if number not in taken]


class NodeStartError(Exception):
    """Nodes cannot be started; the text says why."""


def _attach(cluster: Cluster, node: Node, new: list[Node]) -> None:
    before = next((old for old in cluster.in_replacement(node.group) if old.number == node.number), None)
    if before:
        node.interfaces, before.interfaces = before.interfaces, []
        return
    try:
        network.attach(cluster, node)
    except (MissingPermissionError, network.NetworkError, OutOfAddressesError, LookupError) as error:
        network.drop(cluster, new)
        raise NodeStartError(f"Instance group '{node.group}': {error}") from error


def boot(cluster: Cluster, nodes: list[Node], listener: Listener, after: str = "hyperpod.node.boot") -> None:
    """Boot the nodes one after the other and run their lifecycle scripts."""
    stagger = min(duration("hyperpod.node.stagger"), duration("hyperpod.node.stagger.max") / max(1, len(nodes)))
    if runner().starts_in_real_time:
        stagger = 0.0
    for place, node in enumerate(nodes):
        schedule.after(duration(after) + place * stagger, _Start(cluster, node, listener).begin)


@dataclass(frozen=True)
class _Start:
    """The start of a node, ignored if the node is removed or has failed meanwhile."""

    cluster: Cluster
    node: Node
    listener: Listener

    def begin(self) -> None:
        with lock:
            if not self._is_wanted():
                return
            if self.node.status == "SystemUpdating":
                runner().stop(self.node.id)  # not earlier: a failed update leaves nodes unchanged
            launch = Launch(self.cluster, self.node)
        runner().start(launch, self.done)  # outside the lock: a runner may be slow

    def done(self, outcome: Outcome) -> None:
        with lock:
            if not self._is_wanted():
                return
            if outcome.failure:
                self._fail(outcome.failure)
            elif self.cluster.eks_arn:
                agents.of(self.cluster).join(self.node.id, self._joined, has_kubelet=runner().runs_kubelets)
            else:
                self._started()

    def _joined(self, failure: str) -> None:
        with lock:
            if not self._is_wanted():
                return
            if failure:
                self._fail(f"Instance {self.node.id} could not join Kubernetes: {failure}")
            else:
                self._started()

    def _started(self) -> None:
        if self.node.status == "SystemUpdating":
            image = {name: value for name, value in self.cluster.groups[self.node.group].spec.items() if name in IMAGE}
            self.node.spec = {name: value for name, value in self.node.spec.items() if name not in IMAGE} | image
            self.node.software_updated = host_now()
        if self.node.spec.get("OnStartDeepHealthChecks"):
            self._check_health()
        else:
            self._run()

    def _is_wanted(self) -> bool:
        starting = ("Pending", "AttachInProgress", "SystemUpdating", "DeepHealthCheckInProgress")
        return self.node in self.cluster.nodes and self.node.status in starting

    def _check_health(self) -> None:
        self.node.status, self.node.deep_check = "DeepHealthCheckInProgress", "InProgress"
        record(self.cluster, "Deep health checks started", About(node=self.node))
        schedule.after(duration("hyperpod.node.deep_health_check"), self._checked)

    def _checked(self) -> None:
        with lock:
            if not self._is_wanted():
                return
            failure = ordered_failure(self.node)
            write_result(ResultLog(self.cluster, self.node), failure)
            record(self.cluster, "Deep health checks ended", About(node=self.node, failure=failure))
            set_result(self.cluster, self.node, failure)
            if failure:
                self.listener.faulty(self.cluster, self.node)
            else:
                self._run()

    def _run(self) -> None:
        self.node.status, self.node.message = "Running", ""
        if self.cluster.eks_arn:
            first_records(self.cluster, self.node)
        record(self.cluster, "Instance is Running", About(node=self.node))
        self.listener.up(self.cluster, self.node)

    def _fail(self, failure: str) -> None:
        self.node.message = failure
        record(self.cluster, "Instance did not start", About(node=self.node, failure=failure))
        self.listener.failed(self.cluster, self.node, failure)


def _instance_id() -> str:
    return f"i-{secrets.token_hex(9)[:17]}"
