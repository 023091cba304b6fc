"""Wait longer than CloudFormation's hour: Custom::HyperPodWait and Custom::HyperPodDeletion."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from cluster_resource import reasons
from cluster_resource.aws_api import ApiError
from cluster_resource.cluster_api import ClusterApi
from cluster_resource.convergence import CONFIRM_S
from cluster_resource.deadline import GONE_S, Clock, clear_suspicion, is_confirmed, suspect
from cluster_resource.decision import Decision, Fail, Memory, Succeed, Wait, missing_nodes_attribute
from cluster_resource.event import Event, Owner
from cluster_resource.observed import Cluster


def step_wait(event: Event, memory: Memory, clock: Clock, api: ClusterApi) -> tuple[Decision, Cluster | None]:
    """Do one step for Custom::HyperPodWait."""
    if event.request_type == "Delete":
        return Decision(Succeed("a wait has nothing to delete"), memory), None
    try:
        cluster = api.cluster(str(event.properties["ClusterName"]), is_deletion=False)
    except ApiError as error:
        return _not_readable(error, memory, clock), None
    updated = Owner(event.stack_id, event.logical_id) if event.request_type == "Update" else None
    return decide_wait(event.properties, cluster, memory, clock, updated=updated), cluster


def step_deletion(event: Event, memory: Memory, clock: Clock, api: ClusterApi) -> Decision:
    """Do one step for Custom::HyperPodDeletion."""
    if event.request_type != "Delete":
        return Decision(Succeed("nothing to wait for until the cluster is deleted"), memory)
    owner = Owner(event.stack_id, str(event.properties["ClusterLogicalId"]))
    try:
        left = api.deleting_clusters(owner)
    except ApiError as error:
        return _not_readable(error, memory, clock)
    return decide_deletion_wait(left, memory, clock)


def first_start(event: Event, clock: Clock) -> datetime:
    """Return when the request for the cluster began at the latest, before the hours of its waits."""
    return clock.started - timedelta(hours=int(event.properties["Hour"]) - 1)


def _not_readable(error: ApiError, memory: Memory, clock: Clock) -> Decision:
    """Retry until the deadline: a wait changes nothing, so its request cannot be invalid."""
    if clock.is_past_deadline:
        return Decision(Fail(f"the cluster could not be read: {error}"), memory)
    return Decision(Wait(str(error)), memory)


def decide_wait(
    properties: Mapping[str, Any], cluster: Cluster | None, memory: Memory, clock: Clock, *, updated: Owner | None = None
) -> Decision:
    """Decide whether the cluster is ready, or wait up to another hour.

    ``updated`` is the owner of the wait if this is an Update.
    """
    decision = _ready(str(properties["ClusterName"]), cluster, memory, clock, missing=_missing(properties, cluster))
    if not clock.is_past_deadline or not isinstance(decision.action, Wait):
        return decision
    hour, is_last = int(properties["Hour"]), str(properties["Last"]).lower() == "true"
    if not is_last:
        return Decision(Succeed(f"hour {hour} is over; the next resource continues to wait"), decision.memory)
    text = f"cluster {properties['ClusterName']} is not ready after {hour} hours ({decision.action.note})"
    # In an update that ended, the nodes are late: a rollback rarely adds some.
    rollback = f"; {reasons.continue_rollback(updated)}" if updated and cluster and cluster.status != "InService" else ""
    return Decision(Fail(text + rollback, diagnose=True, is_late=True), decision.memory)


def _missing(properties: Mapping[str, Any], cluster: Cluster | None) -> str:
    """Return the groups with too few running nodes, as text; the cluster's minimums count only for an older template."""
    if cluster is None or properties.get("Wait", "nodes") != "nodes":
        return ""
    return cluster.missing((group.name for group in cluster.groups), minimums(properties))


def minimums(properties: Mapping[str, Any]) -> dict[str, int]:
    """Return how many nodes groups need by the file: 0 means all; nothing in an older template."""
    return {name: int(count) for name, count in properties.get("MinInstanceCounts", {}).items()}


def _ready(name: str, cluster: Cluster | None, memory: Memory, clock: Clock, *, missing: str) -> Decision:
    if cluster is None or cluster.status == "Deleting":
        memory = suspect(memory, "absent", clock)
        if is_confirmed(memory, clock, GONE_S):
            return Decision(Fail(reasons.disappeared(name)), memory)
        return Decision(Wait("confirming that the cluster was deleted"), memory)
    if cluster.status == "Failed":
        memory = _with_failure(cluster, memory)
        return Decision(Fail(reasons.failed(None, cluster, memory), diagnose=True), memory)
    targets = {group.name: group.target for group in cluster.groups if not group.is_deleting}
    if cluster.status != "InService":
        # During an update the targets are the desired counts; a rollback restores the old ones.
        memory = _with_failure(cluster, memory)
        updating = {*memory.awaited, *(group.name for group in cluster.groups if group.status == "SystemUpdating")}
        memory = memory._replace(awaited=tuple(sorted(updating)))
        is_rolling_back = cluster.status == "RollingBack"
        memory = memory._replace(rolled_back=True) if is_rolling_back else memory._replace(targets=targets)
        return Decision(Wait(cluster.progress), memory)
    return _in_service(cluster, targets, memory, clock, missing)


def _in_service(cluster: Cluster, targets: Mapping[str, int], memory: Memory, clock: Clock, missing: str) -> Decision:
    changed = _undone(cluster, targets, memory)
    reverted = [group.name for group in cluster.groups if group.is_update_reverted and group.name in memory.awaited]
    new = sorted(targets.keys() - memory.targets.keys()) if memory.targets and not cluster.is_continuous else ()
    returned = dict.fromkeys(new, "deleted")
    if changed or returned or reverted or memory.rolled_back:
        memory = suspect(memory, "undone", clock)
        if not is_confirmed(memory, clock, CONFIRM_S):
            return Decision(Wait("confirming that HyperPod rolled back the update"), memory)
        expected = ", ".join(
            f"{name} {count}" for name, count in (changed | returned | dict.fromkeys(reverted, "another image")).items()
        )
        expected = f" (expected {expected})" if expected else ""
        message = memory.failure or cluster.failure or "the service gave no reason"
        is_surely_rolled_back = not cluster.is_continuous or reverted or memory.rolled_back
        what = "rolled back the update" if is_surely_rolled_back else "or an operator reduced the instance counts"
        return Decision(Fail(f"HyperPod {what} of cluster {cluster.name}{expected}: {message}", diagnose=True), memory)
    memory = clear_suspicion(memory)
    if missing:
        # A continuous cluster is InService even while HyperPod rolls back a group; for another one, the update has ended.
        return Decision(Wait(missing), memory._replace(targets=targets if cluster.is_continuous else {}))
    return Decision(Succeed("the cluster is ready", missing_nodes_attribute(cluster.partial(targets))), memory)


def _undone(cluster: Cluster, targets: Mapping[str, int], memory: Memory) -> dict[str, int | str]:
    """Return the groups without the counts of the update, with those counts.

    In a continuous cluster, HyperPod rolls back only added nodes, so an operator or an autoscaler raised a count.
    """
    if cluster.is_continuous:
        return {name: count for name, count in memory.targets.items() if targets.get(name, 0) < count}
    return {name: count for name, count in memory.targets.items() if targets.get(name) != count}


def _with_failure(cluster: Cluster, memory: Memory) -> Memory:
    return memory if memory.failure else memory._replace(failure=cluster.failure)


def decide_deletion_wait(left: Sequence[str], memory: Memory, clock: Clock) -> Decision:
    """Decide whether clusters are deleted whose deletion took longer than an hour.

    Only clusters in Deleting count: a retained cluster stays.
    """
    if not left:
        return Decision(Succeed("no cluster is in Deleting"), memory)
    names = ", ".join(left)
    if clock.is_past_deadline:
        reason = f"still in Deleting after another 57 minutes: {names}; check the nodes' messages, then delete the stack again"
        return Decision(Fail(reason), memory)
    return Decision(Wait(f"still in Deleting: {names}"), memory)
