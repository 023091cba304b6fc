"""Runs in Lambda. A cluster that stands still: bring it to what is wanted, or find that it is there."""

from cluster_resource import reasons
from cluster_resource.actions import Call, Decision, Fail, Succeed, Wait
from cluster_resource.deletion import is_quiet
from cluster_resource.desired import Desired
from cluster_resource.doubt import doubted, lasts, undoubted
from cluster_resource.event import Json
from cluster_resource.memory import Memory
from cluster_resource.moment import Moment
from cluster_resource.observed import Cluster
from cluster_resource.plan import Plan, plan
from cluster_resource.replacement import is_made_by, with_leftovers

STALE_S = 180
"""How long DescribeCluster may show nothing of an update that was accepted."""

SURE_S = 25
"""A bad sign must be there at two steps."""


def settle(desired: Desired, cluster: Cluster, memory: Memory, moment: Moment) -> Decision:
    """Tell the next thing to do with a cluster that is not busy."""
    found = plan(desired, cluster, memory.targets if memory.updated_at else {})
    if any(group.is_going for group in cluster.groups if group.name in found.removed):
        return Decision(Wait(cluster.progress), memory)
    if memory.updated_at:
        waiting = _after_update(desired, cluster, found, memory, moment)
        if waiting:
            return waiting
        memory = undoubted(memory)
    elif found.differences:
        return _update(cluster, found, memory, moment)
    return finish(desired, cluster, memory, moment, found)


def _update(cluster: Cluster, found: Plan, memory: Memory, moment: Moment) -> Decision:
    # The watched groups are kept even where the call fails: its reply may be all that was lost.
    memory = memory._replace(watched=found.watched, old_failure=cluster.failure)
    then = memory._replace(updated_at=str(moment), targets=dict(found.targets), moved=False)
    kept = f"; groups of neither file are kept: {', '.join(found.kept)}" if found.kept else ""
    return Decision(Call("UpdateCluster", found.arguments, then, ", ".join(found.differences) + kept), memory)


def _after_update(desired: Desired, cluster: Cluster, found: Plan, memory: Memory, moment: Moment) -> Decision | None:
    """What an accepted update still needs before it counts; None once the cluster shows it.

    Counts and groups must be as asked. Other fields may be shown in another spelling than they were sent in, so a difference
    there is a failure only together with a reason of the service's.
    """
    if not found.differences:
        return None
    if not memory.moved and moment.since_s(memory.updated_at) < STALE_S:
        return Decision(Wait("the service does not show the update yet"), memory)
    is_met = found.is_met_by(cluster)
    if is_met and not memory.failure and cluster.failure == memory.old_failure:
        return None
    memory = doubted(memory, "undone", moment)
    if not lasts(memory, moment, SURE_S):
        return Decision(Wait("the service seems to have undone the update"), memory)
    return Decision(Fail(reasons.went_back(desired, cluster, memory, ", ".join(found.differences)), of_nodes=True), memory)


def finish(desired: Desired, cluster: Cluster, memory: Memory, moment: Moment, found: Plan) -> Decision:
    """Nodes, tags, and then what is left of others."""
    missing = missing_nodes(desired, cluster, memory)
    if missing:
        return Decision(Wait(missing), memory)
    call = _tag_call(desired, cluster, memory)
    if call:
        return Decision(call, memory)
    if not is_quiet(memory, moment):
        return Decision(Wait("waiting whether an older request still changes something"), memory)
    note = f"left alone, in neither this file nor the one before: {', '.join(found.kept)}" if found.kept else ""
    return with_leftovers(Decision(Succeed(note, data_of(memory, cluster.name)), memory), desired)


def missing_nodes(desired: Desired, cluster: Cluster, memory: Memory) -> str:
    """The groups whose nodes the request waits for and that do not all run yet; empty when there is nothing to wait for."""
    if desired.wait != "nodes":
        return ""
    names = [name for name, _ in _counts(desired)] if is_made_by(desired, memory) else memory.watched
    return cluster.missing(names)


def _counts(desired: Desired) -> list[tuple[str, int]]:
    return [(spec["InstanceGroupName"], spec["InstanceCount"]) for _, spec in desired.groups()]


def _tag_call(desired: Desired, cluster: Cluster, memory: Memory) -> Call | None:
    """One call that brings the user's tags on; tags of others, and those that say whose the cluster is, stay."""
    wrong = {key: value for key, value in desired.tags.items() if cluster.tags.get(key) != value}
    if wrong:
        tags = [{"Key": key, "Value": value} for key, value in sorted(wrong.items())]
        return Call("AddTags", {"ResourceArn": cluster.arn, "Tags": tags}, memory, ", ".join(sorted(wrong)))
    extra = sorted(key for key in desired.old_tags.keys() - desired.tags.keys() if key in cluster.tags)
    if extra:
        return Call("DeleteTags", {"ResourceArn": cluster.arn, "TagKeys": extra}, memory, ", ".join(extra))
    return None


def data_of(memory: Memory, name: str) -> Json:
    """What the resource's attributes are."""
    return {"ClusterArn": memory.arn, "ClusterName": name, "ClusterId": memory.arn.rsplit("/", 1)[-1]}
