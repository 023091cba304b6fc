"""Runs in Lambda. The decision of Custom::HyperPodCluster: one pure function of what is wanted, there, and remembered.

It is level-triggered: whatever call was lost, made twice or made by another, the next step looks at the cluster and goes on from
there. At most one call that changes something comes out of each step.
"""

from cluster_resource import reasons
from cluster_resource.adoption import adopt, adopted_is_gone, not_adopted_yet, nothing_to_adopt, was_let_go
from cluster_resource.convergence import choose, finish, is_made_by, settle
from cluster_resource.deadline import GONE_S, Moment, doubted, lasts, undoubted
from cluster_resource.decision import Call, Decision, Fail, Memory, Succeed, Wait, data_of
from cluster_resource.deletion import clear_leftover, decide_delete, with_leftovers
from cluster_resource.desired import Desired
from cluster_resource.observed import Cluster
from cluster_resource.plan import plan, refusal

APPEAR_S = 300
"""How long DescribeCluster may not know a cluster that CreateCluster accepted."""


def name_to_look_at(desired: Desired, memory: Memory) -> str:
    """The one cluster that a step describes."""
    return memory.leftover or memory.cluster or desired.first_name


def decide(desired: Desired, cluster: Cluster | None, memory: Memory, moment: Moment) -> Decision:
    """Tell the one thing to do next."""
    if memory.fence:
        return Decision(Fail(memory.fence), memory)
    if memory.leftover:
        decision = clear_leftover(desired, cluster, memory, moment)
    elif desired.type == "Delete":
        decision = with_leftovers(decide_delete(desired, cluster, memory, moment), desired)
    else:
        decision = _converge(desired, cluster, memory, moment)
    if moment.is_past_deadline and isinstance(decision.action, Call | Wait):
        return _late(desired, cluster, decision.memory)
    return decision


def _converge(desired: Desired, cluster: Cluster | None, memory: Memory, moment: Moment) -> Decision:
    """Create and Update: there must be one cluster, ours, as wanted."""
    obstacle = _not_ours(desired, cluster, memory, moment) if cluster else None
    if obstacle:
        return obstacle
    chosen = choose(desired, cluster, memory)
    if isinstance(chosen, Decision):
        return chosen
    refused = "" if chosen.updated_at else refusal(desired, cluster)
    if refused:
        return Decision(Fail(refused), chosen)
    if cluster:
        return _present(desired, cluster, chosen, moment)
    if chosen.tried and chosen.cluster == desired.name and not chosen.arn:
        return Decision(Wait(f"{desired.name} is gone"), chosen._replace(cluster=desired.physical_id))
    return _absent(desired, chosen, moment)


def _not_ours(desired: Desired, cluster: Cluster, memory: Memory, moment: Moment) -> Decision | None:
    """What comes before anything else is done to a cluster that is not, or not quite yet, this resource's; None for its own."""
    if cluster.owner != desired.owner:
        is_offered = desired.adopt and desired.type == "Create" and cluster.owner is None
        foreign = Decision(Fail(reasons.foreign(cluster, is_adopting=desired.adopt)), memory)
        return adopt(desired, cluster, memory) if is_offered else foreign
    refused = not_adopted_yet(desired, cluster, memory)
    if refused:
        return Decision(Fail(refused), memory)
    if was_let_go(desired, cluster, memory, moment):
        return Decision(Fail(reasons.let_go(cluster), apart=True), memory)
    return None


def _absent(desired: Desired, memory: Memory, moment: Moment) -> Decision:
    name = name_to_look_at(desired, memory)
    if memory.arn:
        memory = doubted(memory, "absent", moment)
        if lasts(memory, moment, GONE_S):
            return Decision(Fail(reasons.disappeared(name)), memory)
        return Decision(Wait("the cluster is not there any more"), memory)
    if desired.adopt or not (is_made_by(desired, memory) or desired.recreate):
        return Decision(Fail(_why_none(desired, name)), memory)
    if memory.created_at:
        if moment.since_s(memory.created_at) < APPEAR_S:
            return Decision(Wait("the service does not show the cluster yet"), memory)
        return Decision(Fail(reasons.disappeared(name)), memory)
    tags = [{"Key": key, "Value": value} for key, value in sorted(desired.all_tags.items())]
    arguments = {"ClusterName": name, **desired.request, "Tags": tags}
    return Decision(Call("CreateCluster", arguments, memory._replace(created_at=str(moment))), memory)


def _why_none(desired: Desired, name: str) -> str:
    if not desired.adopt:
        return reasons.gone(name)
    return nothing_to_adopt(name) if desired.type == "Create" else adopted_is_gone(name)


def _present(desired: Desired, cluster: Cluster, memory: Memory, moment: Moment) -> Decision:
    if cluster.status == "Deleting":
        return _being_deleted(desired, cluster, memory)
    memory = memory if memory.doubt == "undone" else undoubted(memory)
    memory = _noticing(cluster, memory, is_made=is_made_by(desired, memory))
    if cluster.status == "Failed":
        return _failed(desired, cluster, memory, moment)
    if desired.wait == "none":
        found = plan(desired, cluster, memory.targets)
        # A cluster of this name may be an earlier one, which nobody deleted.
        if memory.created_at or memory.updated_at or (is_made_by(desired, memory) and not found.differences):
            return finish(desired, cluster, memory, moment, found)
    if cluster.status == "InService":
        return settle(desired, cluster, memory, moment)
    return Decision(Wait(cluster.progress), memory)


def _being_deleted(desired: Desired, cluster: Cluster, memory: Memory) -> Decision:
    """A cluster that an earlier Delete left behind must go before ours is made; one that was alive is being taken from us."""
    if memory.arn or not is_made_by(desired, memory):
        return Decision(
            Fail(f"cluster {cluster.name} is being deleted outside this request; deploy again once it is gone"), memory
        )
    return Decision(Wait("an earlier cluster of this name is still being deleted"), memory)


def _failed(desired: Desired, cluster: Cluster, memory: Memory, moment: Moment) -> Decision:
    """A Failed cluster can only be replaced; but an Update that asks nothing of it (a rollback's) may succeed."""
    if is_made_by(desired, memory) or memory.updated_at:
        return Decision(Fail(reasons.failed(desired, cluster, memory), of_nodes=True), memory)
    if plan(desired, cluster, {}).differences:
        reason = f"a failed cluster cannot be updated, it must be replaced; {reasons.failed(desired, cluster, memory)}"
        return Decision(Fail(reason, of_nodes=True), memory)
    return settle(desired, cluster, memory, moment)


def _noticing(cluster: Cluster, memory: Memory, *, is_made: bool) -> Memory:
    """The memory with what this look adds."""
    is_busy = cluster.status not in ("InService", "Failed")
    # A message that is there at the first look is news only of a cluster that this request makes.
    old_failure = memory.old_failure if memory.arn or is_made else cluster.failure
    is_news = not memory.failure and bool(cluster.failure) and cluster.failure != old_failure
    return memory._replace(
        arn=cluster.arn,
        old_failure=old_failure,
        failure=cluster.failure if is_news and cluster.status != "InService" else memory.failure,
        moved=memory.moved or (is_busy and bool(memory.updated_at)),
    )


def _late(desired: Desired, cluster: Cluster | None, memory: Memory) -> Decision:
    """The verdict at the deadline: with more hours to wait, what is under way goes on in the next resource."""
    if memory.leftover and desired.type == "Update":
        return Decision(Succeed(f"{memory.leftover} is still being deleted", data_of(memory, memory.cluster)), memory)
    if desired.wait_hours > 1 and cluster and _is_under_way(desired, cluster, memory):
        data = {} if desired.type == "Delete" else data_of(memory, cluster.name)
        return Decision(Succeed(f"{cluster.status} after 57 minutes; the wait goes on in the next resource", data), memory)
    return Decision(Fail(reasons.late(desired, cluster, memory), of_nodes=desired.type != "Delete"), memory)


def _is_under_way(desired: Desired, cluster: Cluster, memory: Memory) -> bool:
    """Whether the service works on what was asked, so that waiting longer is all that is left to do."""
    if desired.type == "Delete":
        return cluster.status == "Deleting"
    if cluster.status in ("Failed", "Deleting", "RollingBack") or cluster.arn != memory.arn:
        return False
    return bool(memory.updated_at) or not plan(desired, cluster, {}).differences
