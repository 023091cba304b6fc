"""Creation, update and software update of clusters with all-or-none provisioning, step by step on the clock."""

from collections.abc import Callable

from local_aws.durations import duration
from local_aws.hyperpod import continuous, scaling_operations
from local_aws.hyperpod.cluster_events import About, record, set_status
from local_aws.hyperpod.model import Change, Cluster, Group, Node, lock
from local_aws.hyperpod.removal import remove_after, shut_down
from local_aws.hyperpod.service_behaviour import software_attempts
from local_aws.hyperpod.starting import Listener, NodeStartError, add_missing_nodes, boot, runner
from local_aws.schedule import schedule

_ROLLS_BACK = "RollbackInProgress"


def begin_create(cluster: Cluster, ordered_failure: str | None) -> None:
    """Start the creation of a registered cluster."""
    cluster.change = Change("create", ordered_failure=ordered_failure)
    set_status(cluster, "Creating")
    _later("hyperpod.create.launch", cluster, _launch)


def begin_update(cluster: Cluster, groups: dict[str, Group], ordered_failure: str | None) -> None:
    """Start an update of the cluster to ``groups``: add new nodes first, then remove surplus ones."""
    before, cluster.groups = cluster.groups, groups
    scaling_operations.begin_scaling(cluster, before, groups)
    cluster.change = Change("update", before=before, ordered_failure=ordered_failure)
    cluster.change.leaving = _surplus(cluster)
    if not cluster.continuous:
        set_status(cluster, "Updating")
    _later("hyperpod.update.launch", cluster, _launch)


def begin_software_update(cluster: Cluster, before: dict[str, Group], ordered_failure: str | None) -> None:
    """Replace the image of the nodes of the groups in ``before``, which has their former state; their scripts run again."""
    cluster.change = Change("software", before=before, launched=True)
    nodes = _update_software(cluster, cluster.change, "InProgress")
    set_status(cluster, "SystemUpdating", before)
    if ordered_failure:
        _later("hyperpod.software", cluster, lambda which: _fail(which, ordered_failure))
    elif nodes:
        boot(cluster, nodes, listener(cluster), after="hyperpod.software")
    else:
        _later("hyperpod.settle", cluster, _finish)


def listener(cluster: Cluster) -> Listener:
    """Return the callbacks for the nodes of a change, or for moved nodes without one."""
    is_software = cluster.change is not None and cluster.change.kind == "software"
    if cluster.continuous and not is_software:
        return continuous.listener(_up, _fail, _node_faulty)
    return Listener(_up, _node_failed, _node_faulty)


def _update_software(cluster: Cluster, change: Change, status: str) -> list[Node]:
    """Return the nodes that get an image, now SystemUpdating."""
    nodes = [node for node in cluster.nodes if node.group in change.before and node.stays]
    change.waiting_for = {node.id for node in nodes}
    for node in nodes:
        node.status = "SystemUpdating"
    for name in change.before:
        cluster.groups[name].software_status = status
    return nodes


def _later(name: str, cluster: Cluster, action: Callable[[Cluster], None]) -> None:
    """Schedule ``action``, unless another change has begun by then."""
    change = cluster.change

    def act() -> None:
        with lock:
            if cluster.change is change and change is not None:
                action(cluster)

    schedule.after(duration(name), act)


def _surplus(cluster: Cluster) -> list[Node]:
    """Return the nodes beyond the groups' targets: those that do not run, then the newest; AWS picks at random."""
    names = dict.fromkeys(node.group for node in cluster.nodes)
    targets = {name: cluster.groups[name].target if name in cluster.groups else 0 for name in names}
    return [
        node
        for name in names
        for node in sorted(cluster.nodes_of(name), key=lambda node: node.status != "Running")[targets[name] :]
    ]


def _launch(cluster: Cluster) -> None:
    change = _change(cluster)
    if change.ordered_failure:
        _fail(cluster, change.ordered_failure)
        return
    new = _added(cluster)
    if new is None:
        return
    change.waiting_for = {node.id for node in cluster.nodes if node.stays and node.status != "Running"}
    change.waiting_for -= {node.id for node in change.leaving}
    callbacks = listener(cluster)
    boot(cluster, new, callbacks)
    change.launched = True
    if cluster.continuous:
        continuous.launched(cluster, change, callbacks, _retire)
    if _is_complete(cluster, change):
        _retire(cluster)


def _is_complete(cluster: Cluster, change: Change) -> bool:
    return change.launched and not change.waiting_for and not continuous.is_short(cluster)


def _up(cluster: Cluster, node: Node) -> None:
    change = cluster.change
    if change is None:  # a moved node
        return
    change.waiting_for.discard(node.id)
    if _is_complete(cluster, change):
        _retire(cluster)


def _retire(cluster: Cluster) -> None:
    """Remove the surplus nodes, once all new nodes run."""
    shut_down(cluster, _change(cluster).leaving)
    if any(not node.stays for node in cluster.nodes):
        remove_after("hyperpod.node.shut_down", cluster, lambda which: _later("hyperpod.settle", which, _finish))
    else:
        _later("hyperpod.settle", cluster, _finish)


def _finish(cluster: Cluster) -> None:
    results: dict[str | None, str] = {"InProgress": "Succeeded", _ROLLS_BACK: "Failed"}
    if not any(group.software_status == _ROLLS_BACK for group in cluster.groups.values()):
        cluster.failure = ""
    for group in cluster.groups.values():
        group.software_status = results.get(group.software_status, group.software_status)
    scaling_operations.end_scaling(cluster)
    cluster.change = None
    set_status(cluster, "InService")


def _node_failed(cluster: Cluster, node: Node, failure: str) -> None:
    change, text = _change(cluster), f"Instance group '{node.group}', instance {node.id}: {failure}"
    if change.kind == "software" and _start_again(cluster, change, node, text):
        return
    if change.kind == "create":
        node.status = "Failure"
    _fail(cluster, text)


def _start_again(cluster: Cluster, change: Change, node: Node, failure: str) -> bool:
    """Start a node of a software update again, after some attempts all nodes with the former image; return whether it did."""
    if not software_attempts() or cluster.groups[node.group].software_status == _ROLLS_BACK:
        return False
    change.failures.append(node.id)
    nodes = [node]
    if change.failures.count(node.id) == software_attempts():
        cluster.failure = failure
        record(cluster, "Cluster software is rolled back", About(failure=failure))
        _restore_images(cluster, change)
        nodes = _update_software(cluster, change, _ROLLS_BACK)
    boot(cluster, nodes, listener(cluster), after="hyperpod.software.retry")
    return True


def _restore_images(cluster: Cluster, change: Change) -> None:
    for name, group in change.before.items():
        cluster.groups[name].spec = group.spec


def _node_faulty(cluster: Cluster, node: Node) -> None:
    """Replace a node that failed its deep health checks, if the cluster recovers nodes; else go on without it."""
    change = cluster.change
    if change is None:  # a moved node
        return
    if cluster.settings.get("NodeRecovery", "Automatic") == "Automatic":
        shut_down(cluster, [node])
        remove_after("hyperpod.node.shut_down", cluster, lambda which: _launch_replacement(which, change, node))
        return
    change.waiting_for.discard(node.id)
    if _is_complete(cluster, change):
        _retire(cluster)


def _added(cluster: Cluster) -> list[Node] | None:
    """Return the nodes that the groups lacked; None if the change fails because they cannot start."""
    try:
        return add_missing_nodes(cluster)
    except NodeStartError as error:
        _fail(cluster, str(error))
        return None


def _launch_replacement(cluster: Cluster, change: Change, node: Node) -> None:
    if cluster.change is not change:
        return
    new = _added(cluster)
    if new is None:
        return
    change.waiting_for = (change.waiting_for - {node.id}) | {each.id for each in new}
    boot(cluster, new, listener(cluster))


def _fail(cluster: Cluster, failure: str) -> None:
    """Fail the change; only the first failure is reported."""
    if cluster.status == "RollingBack":
        return
    change = _change(cluster)
    cluster.failure = failure
    record(cluster, f"Cluster {change.kind} failed", About(failure=failure))
    if change.kind == "software":
        _give_up_software(cluster)
        return
    set_status(cluster, "RollingBack")
    if change.kind == "create":
        _later("hyperpod.roll_back", cluster, _end_in_failed)
    else:
        _roll_back(cluster, change)


def _end_in_failed(cluster: Cluster) -> None:
    for node in cluster.nodes:
        runner().stop(node.id)
        node.status, node.message = "Failure", node.message or cluster.failure
    cluster.change = None
    set_status(cluster, "Failed")


def _roll_back(cluster: Cluster, change: Change) -> None:
    cluster.groups = change.before
    shut_down(cluster, [node for node in cluster.nodes if node.id in change.waiting_for or node.group not in change.before])
    shut_down(cluster, [node for node in _surplus(cluster) if node.stays])
    remove_after("hyperpod.roll_back", cluster, _end_rolled_back)


def _end_rolled_back(cluster: Cluster) -> None:
    scaling_operations.end_scaling(cluster)
    cluster.change = None
    set_status(cluster, "InService")


def _give_up_software(cluster: Cluster) -> None:
    for group in cluster.groups.values():
        if group.software_status in ("InProgress", _ROLLS_BACK):
            group.software_status = "Failed"
    _restore_images(cluster, _change(cluster))
    for node in cluster.nodes:
        if node.status == "SystemUpdating":
            node.status = "Running"
    cluster.change = None
    set_status(cluster, "InService")


def _change(cluster: Cluster) -> Change:
    if cluster.change is None:
        raise RuntimeError(f"no change in progress on cluster {cluster.name}")
    return cluster.change
