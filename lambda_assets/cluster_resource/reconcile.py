"""Decide the next action of Custom::HyperPodCluster (docs/internals/custom-resource.md, The decision)."""

from cluster_resource import reasons
from cluster_resource.adoption import adopt, adopted_is_absent, adoption_refusal, has_left_stack, nothing_to_adopt
from cluster_resource.convergence import choose_cluster, creates_cluster, finish, needs_update, settle
from cluster_resource.deadline import GONE_S, Clock, clear_suspicion, is_confirmed, suspect
from cluster_resource.decision import Call, Decision, Fail, Memory, Succeed, Wait, attributes_of
from cluster_resource.deletion import clear_leftover, decide_delete, with_leftovers
from cluster_resource.desired import Desired
from cluster_resource.event import tag_list
from cluster_resource.observed import Cluster
from cluster_resource.plan import plan
from cluster_resource.refusals import refusal

APPEAR_S = 300
"""How long DescribeCluster may not show a cluster that CreateCluster accepted."""


def observed_name(desired: Desired, memory: Memory) -> str:
    """Return the name of the cluster that a step describes."""
    return memory.leftover or memory.cluster or desired.initial_name


def decide(desired: Desired, cluster: Cluster | None, memory: Memory, clock: Clock) -> Decision:
    """Return the next action and memory."""
    if memory.leftover:
        decision = clear_leftover(desired, cluster, memory, clock)
    elif desired.type == "Delete":
        decision = with_leftovers(decide_delete(desired, cluster, memory, clock), desired)
    else:
        decision = _converge(desired, cluster, memory, clock)
    if clock.is_past_deadline and isinstance(decision.action, Call | Wait):
        return _late(desired, cluster, decision.memory)
    return decision


def _converge(desired: Desired, cluster: Cluster | None, memory: Memory, clock: Clock) -> Decision:
    obstacle = _check_owner(desired, cluster, memory, clock) if cluster else None
    if obstacle:
        return obstacle
    chosen = choose_cluster(desired, cluster, memory)
    if isinstance(chosen, Decision):
        return chosen
    # DescribeCluster may show the values of this request's own calls in another spelling.
    refused = "" if chosen.updated_at or chosen.created_at else refusal(desired, cluster)
    if refused:
        return Decision(Fail(refused), chosen)
    if cluster:
        return _present(desired, cluster, chosen, clock)
    if chosen.name_checked and chosen.cluster == desired.name and not chosen.arn:
        return Decision(Wait(f"{desired.name} no longer exists"), chosen._replace(cluster=desired.physical_id))
    return _absent(desired, chosen, clock)


def _check_owner(desired: Desired, cluster: Cluster, memory: Memory, clock: Clock) -> Decision | None:
    """Return the adoption or the refusal of a cluster that this resource does not own; None if it owns it."""
    if cluster.owner != desired.owner:
        can_adopt = desired.adopt and desired.type == "Create" and cluster.owner is None
        taken = Decision(Fail(reasons.name_taken(cluster, is_adopting=desired.adopt)), memory)
        return adopt(desired, cluster, memory) if can_adopt else taken
    refused = adoption_refusal(desired, cluster, memory)
    if refused:
        return Decision(Fail(refused), memory)
    if has_left_stack(desired, cluster, memory, clock):
        return Decision(Fail(reasons.left_stack(cluster), without_cluster=True), memory)
    return None


def _absent(desired: Desired, memory: Memory, clock: Clock) -> Decision:
    name = observed_name(desired, memory)
    if memory.arn:
        memory = suspect(memory, "absent", clock)
        if is_confirmed(memory, clock, GONE_S):
            return Decision(Fail(reasons.disappeared(name)), memory)
        return Decision(Wait("confirming that the cluster was deleted"), memory)
    if desired.adopt or not (creates_cluster(desired, memory) or desired.recreate):
        return Decision(Fail(_absent_reason(desired, name)), memory)
    if memory.created_at:
        if clock.since_s(memory.created_at) < APPEAR_S:
            return Decision(Wait("DescribeCluster does not show the cluster yet"), memory)
        return Decision(Fail(reasons.disappeared(name)), memory)
    arguments = {"ClusterName": name, **desired.request, "Tags": tag_list(desired.all_tags)}
    return Decision(Call("CreateCluster", arguments, memory._replace(created_at=str(clock))), memory)


def _absent_reason(desired: Desired, name: str) -> str:
    if not desired.adopt:
        return reasons.absent(name)
    return nothing_to_adopt(name) if desired.type == "Create" else adopted_is_absent(name)


def _present(desired: Desired, cluster: Cluster, memory: Memory, clock: Clock) -> Decision:
    if cluster.status == "Deleting":
        return _being_deleted(desired, cluster, memory)
    memory = memory if memory.suspicion == "undone" else clear_suspicion(memory)
    memory = _observe(cluster, memory, is_created=creates_cluster(desired, memory))
    if cluster.status == "Failed":
        return _failed(desired, cluster, memory, clock)
    if desired.wait == "none":
        found = plan(desired, cluster, memory.targets)
        # A cluster with this name may be an earlier one that was not deleted.
        is_requested = memory.created_at or memory.updated_at
        if not found.unset and (is_requested or (creates_cluster(desired, memory) and not found.differences)):
            return finish(desired, cluster, memory, clock, found)
    if cluster.status == "InService":
        return settle(desired, cluster, memory, clock)
    return Decision(Wait(cluster.progress), memory)


def _being_deleted(desired: Desired, cluster: Cluster, memory: Memory) -> Decision:
    if memory.arn or not creates_cluster(desired, memory):
        reason = f"cluster {cluster.name} is being deleted outside this request; deploy again after it is deleted"
        return Decision(Fail(reason), memory)
    return Decision(Wait("an earlier cluster with this name is still being deleted"), memory)


def _failed(desired: Desired, cluster: Cluster, memory: Memory, clock: Clock) -> Decision:
    """Fail, because a Failed cluster must be replaced; an Update that changes nothing (a rollback) may succeed."""
    if creates_cluster(desired, memory) or memory.updated_at:
        return Decision(Fail(reasons.failed(desired, cluster, memory), diagnose=True), memory)
    if plan(desired, cluster, {}).differences:
        reason = f"a failed cluster cannot be updated and must be replaced; {reasons.failed(desired, cluster, memory)}"
        return Decision(Fail(reason, diagnose=True), memory)
    return settle(desired, cluster, memory, clock)


def _observe(cluster: Cluster, memory: Memory, *, is_created: bool) -> Memory:
    is_busy = cluster.status not in ("InService", "Failed")
    # A message at the first step is new only if this request creates the cluster.
    old_failure = memory.old_failure if memory.arn or is_created else cluster.failure
    is_new = not memory.failure and bool(cluster.failure) and cluster.failure != old_failure
    return memory._replace(
        arn=cluster.arn,
        old_failure=old_failure,
        failure=cluster.failure if is_new and cluster.status != "InService" else memory.failure,
        update_seen=memory.update_seen or (is_busy and bool(memory.updated_at)),
    )


def _late(desired: Desired, cluster: Cluster | None, memory: Memory) -> Decision:
    """Decide at the deadline: with `wait_hours` above 1, the next resource waits for a change in progress."""
    if memory.leftover and desired.type == "Update":
        if cluster and cluster.status != "Deleting":
            return Decision(Fail(reasons.undeleted_leftover(cluster)), memory)
        return Decision(Succeed(f"{memory.leftover} is still being deleted", attributes_of(memory, memory.cluster)), memory)
    if desired.wait_hours > 1 and cluster and _is_in_progress(desired, cluster, memory):
        data = {} if desired.type == "Delete" else attributes_of(memory, cluster.name)
        return Decision(Succeed(f"{cluster.status} after 57 minutes; the next resource continues to wait", data), memory)
    reason = reasons.timed_out(desired, cluster, memory)
    return Decision(Fail(reason, diagnose=desired.type != "Delete", is_late=True), memory)


def _is_in_progress(desired: Desired, cluster: Cluster, memory: Memory) -> bool:
    """Return whether HyperPod still works on the request, so that waiting longer can help."""
    if desired.type == "Delete":
        return cluster.status == "Deleting"
    if cluster.status in ("Failed", "Deleting", "RollingBack") or cluster.arn != memory.arn:
        return False
    return bool(memory.updated_at) or not needs_update(cluster, plan(desired, cluster, {}), memory)
