"""Delete the cluster, and the clusters that failed replacements left behind."""

from cluster_resource import reasons
from cluster_resource.adoption import release
from cluster_resource.deadline import Clock, clear_suspicion, is_confirmed, suspect
from cluster_resource.decision import Call, Decision, Fail, Memory, Succeed, Wait, attributes_of
from cluster_resource.desired import Desired
from cluster_resource.executions import LEASE_S
from cluster_resource.observed import Cluster

BLOCKED_S = 300
BLOCKED_WORDS = "does not have permission to perform"


def decide_delete(desired: Desired, cluster: Cluster | None, memory: Memory, clock: Clock) -> Decision:
    """Return the next action to delete the cluster."""
    if cluster is None:
        if is_quiet(memory, clock):
            return Decision(Succeed("the cluster does not exist"), memory)
        return Decision(Wait("the cluster does not exist; waiting until no older request can create it"), memory)
    if desired.adopt:
        return release(desired, cluster, memory, is_quiet=is_quiet(memory, clock))
    if cluster.owner != desired.owner:
        return Decision(Succeed(f"not deleted: {reasons.name_taken(cluster)}"), memory)
    memory = memory._replace(arn=cluster.arn)
    if cluster.status != "Deleting":
        arguments = {"ClusterName": cluster.name}
        return Decision(Call("DeleteCluster", arguments, memory, f"cluster is {cluster.status}"), memory)
    return _deleting(cluster, memory, clock)


def is_quiet(memory: Memory, clock: Clock) -> bool:
    """Return whether no call of an older request can still take effect."""
    return clock.elapsed_s >= LEASE_S or memory.contested is False


def _deleting(cluster: Cluster, memory: Memory, clock: Clock) -> Decision:
    """Wait, or fail if the execution role lacks a permission: without it HyperPod retries forever to remove interfaces."""
    blocked = next((node for node in cluster.nodes or () if BLOCKED_WORDS in node.message), None)
    if blocked is None:
        return Decision(Wait(cluster.progress), clear_suspicion(memory))
    memory = suspect(memory, "blocked", clock)
    if is_confirmed(memory, clock, BLOCKED_S):
        return Decision(Fail(reasons.deletion_blocked(cluster, blocked)), memory)
    return Decision(Wait(blocked.message), memory)


def with_leftovers(decision: Decision, desired: Desired) -> Decision:
    """Return the decision, or before its success the deletion of the next leftover cluster.

    A replacement that died before its response left one. The rollback's Update has its properties as the old ones, and no Delete
    follows for an unknown ID. If that Update failed too, the entry function finds it.
    """
    memory = decision.memory
    known = ("", desired.physical_id, memory.cluster)
    names = memory.leftovers if memory.leftover else (desired.old_name, *memory.leftovers)
    names = tuple(dict.fromkeys(name for name in names if name not in known))
    if not names or not isinstance(decision.action, Succeed):
        return decision
    note = f"checking whether a failed replacement left {names[0]}"
    return Decision(Wait(note), memory._replace(leftover=names[0], leftovers=names[1:]))


def clear_leftover(desired: Desired, cluster: Cluster | None, memory: Memory, clock: Clock) -> Decision:
    """Delete the cluster of a failed replacement, which uses the network; the request's own cluster is done."""
    decision = decide_delete(desired._replace(adopt=False), cluster, memory._replace(arn=""), clock)
    done = attributes_of(memory, memory.cluster) if desired.type == "Update" else None
    kept = decision.memory._replace(arn=memory.arn)
    match decision.action:
        case Call() as call:
            return Decision(call._replace(then=kept), kept)
        case Succeed(note=note):
            return with_leftovers(Decision(Succeed(note, done), kept), desired)
        case Fail(reason=reason) if desired.type == "Update":
            return Decision(Succeed(f"the cluster of a failed replacement was not deleted: {reason}", done), kept)
        case action:
            return Decision(action, kept)
