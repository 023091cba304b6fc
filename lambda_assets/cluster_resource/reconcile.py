"""Runs in Lambda. The decision of Custom::HyperPodCluster: one pure function of what is wanted, there, and remembered.

It is level-triggered: whatever call was lost, made twice or made by another, the next step looks at the cluster and goes on from
there. At most one call that changes something comes out of each step.
"""

from cluster_resource import reasons
from cluster_resource.adoption import adopt, adopted_is_absent, adoption_refusal, has_left_stack, nothing_to_adopt
from cluster_resource.convergence import choose_cluster, creates_cluster, finish, settle
from cluster_resource.deadline import GONE_S, Clock, clear_suspicion, is_confirmed, suspect
from cluster_resource.decision import Call, Decision, Fail, Memory, Succeed, Wait, attributes_of
from cluster_resource.deletion import clear_leftover, decide_delete, with_leftovers
from cluster_resource.desired import Desired
from cluster_resource.observed import Cluster
from cluster_resource.plan import plan, refusal

APPEAR_S = 300
"""How long DescribeCluster may not know a cluster that CreateCluster accepted."""


def observed_name(desired: Desired, memory: Memory) -> str:
    """The one cluster that a step describes."""
    return memory.leftover or memory.cluster or desired.initial_name


def decide(desired: Desired, cluster: Cluster | None, memory: Memory, clock: Clock) -> Decision:
    """Tell the one thing to do next."""
    if memory.fence:
        return Decision(Fail(memory.fence), memory)
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
    """Create and Update: there must be one cluster, ours, as wanted."""
    obstacle = _check_owner(desired, cluster, memory, clock) if cluster else None
    if obstacle:
        return obstacle
    chosen = choose_cluster(desired, cluster, memory)
    if isinstance(chosen, Decision):
        return chosen
    refused = "" if chosen.updated_at else refusal(desired, cluster)
    if refused:
        return Decision(Fail(refused), chosen)
    if cluster:
        return _present(desired, cluster, chosen, clock)
    if chosen.name_checked and chosen.cluster == desired.name and not chosen.arn:
        return Decision(Wait(f"{desired.name} is gone"), chosen._replace(cluster=desired.physical_id))
    return _absent(desired, chosen, clock)


def _check_owner(desired: Desired, cluster: Cluster, memory: Memory, clock: Clock) -> Decision | None:
    """What comes before anything else is done to a cluster that is not, or not quite yet, this resource's; None for its own."""
    if cluster.owner != desired.owner:
        is_offered = desired.adopt and desired.type == "Create" and cluster.owner is None
        name_taken = Decision(Fail(reasons.name_taken(cluster, is_adopting=desired.adopt)), memory)
        return adopt(desired, cluster, memory) if is_offered else name_taken
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
        return Decision(Wait("the cluster is not there any more"), memory)
    if desired.adopt or not (creates_cluster(desired, memory) or desired.recreate):
        return Decision(Fail(_absent_reason(desired, name)), memory)
    if memory.created_at:
        if clock.since_s(memory.created_at) < APPEAR_S:
            return Decision(Wait("the service does not show the cluster yet"), memory)
        return Decision(Fail(reasons.disappeared(name)), memory)
    tags = [{"Key": key, "Value": value} for key, value in sorted(desired.all_tags.items())]
    arguments = {"ClusterName": name, **desired.request, "Tags": tags}
    return Decision(Call("CreateCluster", arguments, memory._replace(created_at=str(clock))), memory)


def _absent_reason(desired: Desired, name: str) -> str:
    if not desired.adopt:
        return reasons.absent(name)
    return nothing_to_adopt(name) if desired.type == "Create" else adopted_is_absent(name)


def _present(desired: Desired, cluster: Cluster, memory: Memory, clock: Clock) -> Decision:
    if cluster.status == "Deleting":
        return _being_deleted(desired, cluster, memory)
    memory = memory if memory.suspicion == "undone" else clear_suspicion(memory)
    memory = _observe(cluster, memory, is_made=creates_cluster(desired, memory))
    if cluster.status == "Failed":
        return _failed(desired, cluster, memory, clock)
    if desired.wait == "none":
        found = plan(desired, cluster, memory.targets)
        # A cluster of this name may be an earlier one, which nobody deleted.
        if memory.created_at or memory.updated_at or (creates_cluster(desired, memory) and not found.differences):
            return finish(desired, cluster, memory, clock, found)
    if cluster.status == "InService":
        return settle(desired, cluster, memory, clock)
    return Decision(Wait(cluster.progress), memory)


def _being_deleted(desired: Desired, cluster: Cluster, memory: Memory) -> Decision:
    """A cluster that an earlier Delete left behind must go before ours is made; one that was alive is being taken from us."""
    if memory.arn or not creates_cluster(desired, memory):
        return Decision(
            Fail(f"cluster {cluster.name} is being deleted outside this request; deploy again once it is gone"), memory
        )
    return Decision(Wait("an earlier cluster of this name is still being deleted"), memory)


def _failed(desired: Desired, cluster: Cluster, memory: Memory, clock: Clock) -> Decision:
    """A Failed cluster can only be replaced; but an Update that asks nothing of it (a rollback's) may succeed."""
    if creates_cluster(desired, memory) or memory.updated_at:
        return Decision(Fail(reasons.failed(desired, cluster, memory), diagnose=True), memory)
    if plan(desired, cluster, {}).differences:
        reason = f"a failed cluster cannot be updated, it must be replaced; {reasons.failed(desired, cluster, memory)}"
        return Decision(Fail(reason, diagnose=True), memory)
    return settle(desired, cluster, memory, clock)


def _observe(cluster: Cluster, memory: Memory, *, is_made: bool) -> Memory:
    """The memory with what this look adds."""
    is_busy = cluster.status not in ("InService", "Failed")
    # A message that is there at the first look is news only of a cluster that this request makes.
    old_failure = memory.old_failure if memory.arn or is_made else cluster.failure
    is_news = not memory.failure and bool(cluster.failure) and cluster.failure != old_failure
    return memory._replace(
        arn=cluster.arn,
        old_failure=old_failure,
        failure=cluster.failure if is_news and cluster.status != "InService" else memory.failure,
        update_seen=memory.update_seen or (is_busy and bool(memory.updated_at)),
    )


def _late(desired: Desired, cluster: Cluster | None, memory: Memory) -> Decision:
    """The verdict at the deadline: with more hours to wait, what is under way goes on in the next resource."""
    if memory.leftover and desired.type == "Update":
        return Decision(Succeed(f"{memory.leftover} is still being deleted", attributes_of(memory, memory.cluster)), memory)
    if desired.wait_hours > 1 and cluster and _is_in_progress(desired, cluster, memory):
        data = {} if desired.type == "Delete" else attributes_of(memory, cluster.name)
        return Decision(Succeed(f"{cluster.status} after 57 minutes; the wait goes on in the next resource", data), memory)
    return Decision(Fail(reasons.timed_out(desired, cluster, memory), diagnose=desired.type != "Delete"), memory)


def _is_in_progress(desired: Desired, cluster: Cluster, memory: Memory) -> bool:
    """Whether the service works on what was asked, so that waiting longer is all that is left to do."""
    if desired.type == "Delete":
        return cluster.status == "Deleting"
    if cluster.status in ("Failed", "Deleting", "RollingBack") or cluster.arn != memory.arn:
        return False
    return bool(memory.updated_at) or not plan(desired, cluster, {}).differences
