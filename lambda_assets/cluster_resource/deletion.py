"""Runs in Lambda. Clearing a cluster away: the Delete of the resource, and what a replacement left that died unreported."""

from cluster_resource import reasons
from cluster_resource.adoption import release
from cluster_resource.deadline import Clock, clear_suspicion, is_confirmed, suspect
from cluster_resource.decision import Call, Decision, Fail, Memory, Succeed, Wait, attributes_of
from cluster_resource.desired import Desired
from cluster_resource.executions import LEASE_S
from cluster_resource.observed import Cluster, Node

BLOCKED_S = 300
BLOCKED_WORDS = "does not have permission to perform"


def decide_delete(desired: Desired, cluster: Cluster | None, memory: Memory, clock: Clock) -> Decision:
    """Tell the next thing to do so that the cluster goes."""
    if cluster is None:
        if is_quiet(memory, clock):
            return Decision(Succeed("there is no cluster"), memory)
        return Decision(Wait("there is no cluster; waiting whether an older request still makes one"), memory)
    if desired.adopt:
        return release(desired, cluster, memory, is_quiet=is_quiet(memory, clock))
    if cluster.owner != desired.owner:
        return Decision(Succeed(f"left alone: {reasons.name_taken(cluster)}"), memory)
    memory = memory._replace(arn=cluster.arn)
    if cluster.status != "Deleting":
        arguments = {"ClusterName": cluster.name}
        return Decision(Call("DeleteCluster", arguments, memory, f"cluster is {cluster.status}"), memory)
    return _deleting(cluster, memory, clock)


def is_quiet(memory: Memory, clock: Clock) -> bool:
    """Return whether no call of an older request can still take effect."""
    return clock.elapsed_s >= LEASE_S or memory.contested is False


def _deleting(cluster: Cluster, memory: Memory, clock: Clock) -> Decision:
    """The service removes the nodes' interfaces with the execution role; without its permissions it tries for ever."""
    blocked = _blocked(cluster)
    if blocked is None:
        return Decision(Wait(cluster.progress), clear_suspicion(memory))
    memory = suspect(memory, "blocked", clock)
    if is_confirmed(memory, clock, BLOCKED_S):
        return Decision(Fail(reasons.blocked(cluster, blocked)), memory)
    return Decision(Wait(blocked.message), memory)


def _blocked(cluster: Cluster) -> Node | None:
    return next((node for node in cluster.nodes or () if BLOCKED_WORDS in node.message), None)


def with_leftovers(decision: Decision, desired: Desired) -> Decision:
    """The decision, or what comes before its success: clearing away the clusters that nobody knows of.

    A replacement that died before it reported left one. CloudFormation sends the rollback's Update with the failed properties as
    the old ones, and never a Delete for the id that it was not told; where that Update failed too, the entry function knows.
    """
    memory = decision.memory
    known = ("", desired.physical_id, memory.cluster)
    old = (desired.old_name,) if desired.type == "Update" and not memory.leftover else ()
    names = tuple(dict.fromkeys(name for name in (*old, *memory.leftovers) if name not in known))
    if not names or desired.adopt or not isinstance(decision.action, Succeed):
        return decision
    return Decision(Wait(f"looking for {names[0]}"), memory._replace(leftover=names[0], leftovers=names[1:]))


def clear_leftover(desired: Desired, cluster: Cluster | None, memory: Memory, clock: Clock) -> Decision:
    """The cluster itself is as wanted, or gone; what a dead replacement left goes too, so that its network can go."""
    without_cluster = memory._replace(arn="")
    # What a replacement left was made, and not taken over.
    decision = decide_delete(desired._replace(adopt=False), cluster, without_cluster, clock)
    done = attributes_of(memory, memory.cluster) if desired.type == "Update" else None
    kept = decision.memory._replace(arn=memory.arn)
    match decision.action:
        case Call(operation=operation, arguments=arguments, note=note):
            return Decision(Call(operation, arguments, kept, note), kept)
        case Succeed(note=note):
            return with_leftovers(Decision(Succeed(note, done), kept), desired)
        case Fail(reason=reason) if desired.type == "Update":
            return Decision(Succeed(f"a leftover stays: {reason}", done), kept)
        case action:
            return Decision(action, kept)
