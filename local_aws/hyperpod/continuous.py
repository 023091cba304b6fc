"""Continuous provisioning: the cluster is InService before its nodes, failed workers are replaced, minimums time out.

Instances without capacity are in no list until they are launched, as ListClusterNodes documents for nodes without an instance.
"""

from collections.abc import Callable

from local_aws.clock import clock
from local_aws.durations import duration
from local_aws.hyperpod.cluster_events import About, record, set_status
from local_aws.hyperpod.model import Change, Cluster, Group, Node, lock
from local_aws.hyperpod.removal import shut_down
from local_aws.hyperpod.starting import Listener, NodeStartError, add_missing_nodes, boot
from local_aws.schedule import schedule

Up = Callable[[Cluster, Node], None]
Fail = Callable[[Cluster, str], None]


def listener(up: Up, fail: Fail, faulty: Up) -> Listener:
    """Return the listener that reacts to started and failed nodes."""

    def on_up(cluster: Cluster, node: Node) -> None:
        if cluster.status == "Creating" and _is_head(node):
            set_status(cluster, "InService", ())
        _settle_group(cluster, cluster.groups.get(node.group))
        up(cluster, node)

    def on_failed(cluster: Cluster, node: Node, failure: str) -> None:
        if cluster.status == "Creating" and _is_head(node):
            node.status = "Failure"
            fail(cluster, f"Instance group '{node.group}', instance {node.id}: {failure}")
        else:
            again = listener(up, fail, faulty)
            schedule.after(duration("hyperpod.node.retry"), lambda: _replace(cluster, node, again))

    return Listener(on_up, on_failed, faulty)


def _replace(cluster: Cluster, node: Node, listener: Listener) -> None:
    """Start a failed node again with what its group has now; unlike on AWS, it keeps its id and address."""
    with lock:
        if node in cluster.nodes and node.stays and node.group in cluster.groups:
            node.spec, node.launched = dict(cluster.groups[node.group].spec), clock.moment()
            boot(cluster, [node], listener)


def launched(cluster: Cluster, change: Change, listener: Listener, retire: Callable[[Cluster], None]) -> None:
    """Set the cluster InService unless it waits for a controller; schedule further launches and the check of minimums."""
    if cluster.status == "Creating" and not any("SlurmConfig" in group.spec for group in cluster.groups.values()):
        set_status(cluster, "InService", ())

    def give_up() -> None:
        with lock:
            if cluster.change is change and _give_up_minimums(cluster, change):
                retire(cluster)

    schedule.after(duration("hyperpod.min_count"), give_up)
    _launch_later(cluster, change, listener)


def is_short(cluster: Cluster) -> bool:
    """Return whether a group of a continuous cluster has fewer instances than requested."""
    return cluster.continuous and any(len(cluster.nodes_of(name)) < group.target for name, group in cluster.groups.items())


def _launch_later(cluster: Cluster, change: Change, listener: Listener) -> None:
    """Launch the instances that AWS had no capacity for, until all have started."""

    def launch() -> None:
        with lock:
            if cluster.change is not change or not is_short(cluster):
                return
            try:
                new = add_missing_nodes(cluster)
            except NodeStartError as error:
                record(cluster, "Instances were not launched", About(failure=str(error)))
                new = []
            change.waiting_for |= {node.id for node in new}
            boot(cluster, new, listener)
            _launch_later(cluster, change, listener)

    if is_short(cluster):
        schedule.after(duration("hyperpod.capacity.retry"), launch)


def _is_head(node: Node) -> bool:
    return (node.spec.get("SlurmConfig") or {}).get("NodeType") == "Controller"


def _settle_group(cluster: Cluster, group: Group | None) -> None:
    if group and _running(cluster, group) == group.target:
        group.status = "InService"


def _give_up_minimums(cluster: Cluster, change: Change) -> bool:
    """Revert groups below their minimum: new ones to no nodes, others to their former size; return whether there were any."""
    short = [group for group in cluster.groups.values() if _running(cluster, group) < group.spec.get("MinInstanceCount", 0)]
    for group in short:
        old = change.before.get(group.name)
        group.spec = dict(old.spec) if old else {**group.spec, "InstanceCount": 0, "MinInstanceCount": 0}
        extra = [node for node in cluster.nodes_of(group.name) if node.status != "Running" or not old]
        shut_down(cluster, extra)
        change.waiting_for -= {node.id for node in extra}
        record(cluster, "Instance group is rolled back", About(group=group.name, failure="the minimum was not met in time"))
    return bool(short) and not change.waiting_for and not is_short(cluster)


def _running(cluster: Cluster, group: Group) -> int:
    return sum(node.status == "Running" for node in cluster.nodes_of(group.name))
