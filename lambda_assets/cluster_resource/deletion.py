"""Runs in Lambda. Clearing a cluster away: the Delete of the resource, and what a replacement left that died unreported."""

from cluster_resource import reasons
from cluster_resource.actions import Call, Decision, Fail, Succeed, Wait
from cluster_resource.adoption import hand_back
from cluster_resource.desired import Desired
from cluster_resource.doubt import doubted, lasts, undoubted
from cluster_resource.executions import LEASE_S
from cluster_resource.memory import Memory
from cluster_resource.moment import Moment
from cluster_resource.observed import Cluster, Node

BLOCKED_S = 300
BLOCKED_WORDS = "does not have permission to perform"


def decide_delete(desired: Desired, cluster: Cluster | None, memory: Memory, moment: Moment) -> Decision:
    """Tell the next thing to do so that the cluster goes."""
    if cluster is None:
        if is_quiet(memory, moment):
            return Decision(Succeed("there is no cluster"), memory)
        return Decision(Wait("there is no cluster; waiting whether an older request still makes one"), memory)
    if desired.adopt:
        return hand_back(desired, cluster, memory, is_quiet=is_quiet(memory, moment))
    if cluster.owner != desired.owner:
        return Decision(Succeed(f"left alone: {reasons.foreign(cluster)}"), memory)
    memory = memory._replace(arn=cluster.arn)
    if cluster.status != "Deleting":
        arguments = {"ClusterName": cluster.name}
        return Decision(Call("DeleteCluster", arguments, memory, f"cluster is {cluster.status}"), memory)
    return _deleting(cluster, memory, moment)


def is_quiet(memory: Memory, moment: Moment) -> bool:
    """Return whether no call of an older request can still take effect."""
    return moment.elapsed_s >= LEASE_S or memory.contested is False


def _deleting(cluster: Cluster, memory: Memory, moment: Moment) -> Decision:
    """The service removes the nodes' interfaces with the execution role; without its permissions it tries for ever."""
    blocked = _blocked(cluster)
    if blocked is None:
        return Decision(Wait(cluster.progress), undoubted(memory))
    memory = doubted(memory, "blocked", moment)
    if lasts(memory, moment, BLOCKED_S):
        return Decision(Fail(reasons.blocked(cluster, blocked)), memory)
    return Decision(Wait(blocked.message), memory)


def _blocked(cluster: Cluster) -> Node | None:
    return next((node for node in cluster.nodes or () if BLOCKED_WORDS in node.message), None)
