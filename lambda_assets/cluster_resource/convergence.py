"""Runs in Lambda. Which cluster an Update is about: the one it names, or a new one that takes its place."""

from cluster_resource import reasons
from cluster_resource.deadline import Clock, clear_suspicion, is_confirmed, suspect
from cluster_resource.decision import Call, Decision, Fail, Memory, Succeed, Wait, attributes_of
from cluster_resource.deletion import is_quiet, with_leftovers
from cluster_resource.desired import Desired
from cluster_resource.event import Json, create_only
from cluster_resource.observed import Cluster
from cluster_resource.plan import Plan, plan


def choose_cluster(desired: Desired, cluster: Cluster | None, memory: Memory) -> Decision | Memory:
    """The memory with the cluster to work on where it is the one in view, else the decision that leads there.

    The id stays unless a value that CreateCluster fixes differs from the *observed* cluster, so that a new way of making names
    replaces nothing. Only where the cluster is gone do the properties before stand in for it.
    """
    if desired.type != "Update" or memory.cluster:
        return memory
    have = create_only(cluster.description if cluster else desired.old_request or {})
    chosen = _name(desired, have) or ("" if cluster else desired.physical_id)
    if not chosen:
        return Decision(Fail(_refusal(desired, have)), memory)
    if chosen == desired.physical_id and not _may_go_back(desired, memory):
        return memory._replace(cluster=chosen)
    if chosen == desired.physical_id:
        note = f"looking whether {desired.name} is still there"
        return Decision(Wait(note), memory._replace(cluster=desired.name, name_checked=True))
    return Decision(Wait(f"{chosen} takes the place of {desired.physical_id}"), memory._replace(cluster=chosen))


def _may_go_back(desired: Desired, memory: Memory) -> bool:
    """Whether a fixed name is taken back, perhaps by a rollback, so that the cluster before it may still be there."""
    return desired.old_name == desired.physical_id != desired.name and not desired.is_name_fixed and not memory.name_checked


def creates_cluster(desired: Desired, memory: Memory) -> bool:
    """Whether the request is to make its cluster, should there be none; one that is to be adopted is never made."""
    is_new = desired.type == "Create" or memory.cluster not in ("", desired.physical_id)
    return not desired.adopt and (is_new or bool(memory.created_at))


def _name(desired: Desired, have: Json) -> str:
    """The name of the cluster to work on; empty when the change cannot be made under the name that is fixed."""
    if desired.is_name_fixed and desired.name != desired.physical_id:
        return desired.name
    if desired.create_only == have:
        return desired.physical_id
    return "" if desired.name == desired.physical_id else desired.name


def _refusal(desired: Desired, have: Json) -> str:
    changed = sorted(name for name, value in desired.create_only.items() if value != have[name])
    return (
        f"{', '.join(changed)} of cluster {desired.physical_id} cannot change while it lives, and a new one cannot have its name "
        f"({have[changed[0]]!r} -> {desired.create_only[changed[0]]!r}); remove `cluster_name` or choose another one: "
        "then a new cluster is made first and the old one deleted after"
    )


STALE_S = 180
"""How long DescribeCluster may show nothing of an update that was accepted."""


CONFIRM_S = 25
"""A bad sign must be there at two steps."""


def settle(desired: Desired, cluster: Cluster, memory: Memory, clock: Clock) -> Decision:
    """Tell the next thing to do with a cluster that is not busy."""
    found = plan(desired, cluster, memory.targets if memory.updated_at else {})
    if any(group.is_deleting for group in cluster.groups if group.name in found.removed):
        return Decision(Wait(cluster.progress), memory)
    if memory.updated_at:
        waiting = _after_update(desired, cluster, found, memory, clock)
        if waiting:
            return waiting
        memory = clear_suspicion(memory)
    elif found.differences:
        return _update(cluster, found, memory, clock)
    return finish(desired, cluster, memory, clock, found)


def _update(cluster: Cluster, found: Plan, memory: Memory, clock: Clock) -> Decision:
    # The watched groups are kept even where the call fails: its reply may be all that was lost.
    memory = memory._replace(awaited=found.awaited, old_failure=cluster.failure)
    then = memory._replace(updated_at=str(clock), targets=dict(found.targets), update_seen=False)
    kept = f"; groups of neither file are kept: {', '.join(found.kept)}" if found.kept else ""
    return Decision(Call("UpdateCluster", found.arguments, then, ", ".join(found.differences) + kept), memory)


def _after_update(desired: Desired, cluster: Cluster, found: Plan, memory: Memory, clock: Clock) -> Decision | None:
    """What an accepted update still needs before it counts; None once the cluster shows it.

    Counts and groups must be as asked. Other fields may be shown in another spelling than they were sent in, so a difference
    there is a failure only together with a reason of the service's.
    """
    if not found.differences:
        return None
    if not memory.update_seen and clock.since_s(memory.updated_at) < STALE_S:
        return Decision(Wait("the service does not show the update yet"), memory)
    is_met = found.is_met_by(cluster)
    if is_met and not memory.failure and cluster.failure == memory.old_failure:
        return None
    memory = suspect(memory, "undone", clock)
    if not is_confirmed(memory, clock, CONFIRM_S):
        return Decision(Wait("the service seems to have undone the update"), memory)
    return Decision(Fail(reasons.update_undone(desired, cluster, memory, ", ".join(found.differences)), diagnose=True), memory)


def finish(desired: Desired, cluster: Cluster, memory: Memory, clock: Clock, found: Plan) -> Decision:
    """Nodes, tags, and then what is left of others."""
    missing = missing_nodes(desired, cluster, memory)
    if missing:
        return Decision(Wait(missing), memory)
    call = _tag_call(desired, cluster, memory)
    if call:
        return Decision(call, memory)
    if not is_quiet(memory, clock):
        return Decision(Wait("waiting whether an older request still changes something"), memory)
    note = f"left alone, in neither this file nor the one before: {', '.join(found.kept)}" if found.kept else ""
    return with_leftovers(Decision(Succeed(note, attributes_of(memory, cluster.name)), memory), desired)


def missing_nodes(desired: Desired, cluster: Cluster, memory: Memory) -> str:
    """The groups whose nodes the request waits for and that do not all run yet; empty when there is nothing to wait for."""
    if desired.wait != "nodes":
        return ""
    names = [name for name, _ in _counts(desired)] if creates_cluster(desired, memory) else memory.awaited
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
