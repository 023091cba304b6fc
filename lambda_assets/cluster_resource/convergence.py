"""Choose the cluster of a request, and bring an idle cluster to the desired state."""

from cluster_resource import reasons
from cluster_resource.deadline import Clock, clear_suspicion, is_confirmed, suspect
from cluster_resource.decision import Call, Decision, Fail, Memory, Succeed, Wait, attributes_of
from cluster_resource.deletion import is_quiet, with_leftovers
from cluster_resource.desired import Desired
from cluster_resource.event import Json, create_only, tag_list
from cluster_resource.observed import Cluster
from cluster_resource.plan import Plan, plan

STALE_S = 180
"""How long DescribeCluster may not show an accepted update."""

CONFIRM_S = 25
"""A bad sign must last for two steps."""


def choose_cluster(desired: Desired, cluster: Cluster | None, memory: Memory) -> Decision | Memory:
    """Return the memory if ``cluster`` is the one to work on, else the decision that leads to that cluster.

    The old properties count only if the cluster does not exist: a new way to generate names must replace nothing.
    """
    if desired.type != "Update" or memory.cluster:
        return memory
    observed = create_only(cluster.description if cluster else desired.old_request or {})
    chosen = _name(desired, observed) or ("" if cluster else desired.physical_id)
    if cluster and (refused := replacement_on_eks(desired, cluster)):
        return Decision(Fail(refused), memory)
    if not chosen:
        return Decision(Fail(_refusal(desired, observed)), memory)
    if chosen == desired.physical_id and not _may_go_back(desired, memory):
        return memory._replace(cluster=chosen)
    if chosen == desired.physical_id:
        note = f"checking whether {desired.name} still exists"
        return Decision(Wait(note), memory._replace(cluster=desired.name, name_checked=True))
    return Decision(Wait(f"{chosen} replaces {desired.physical_id}"), memory._replace(cluster=chosen))


def replacement_on_eks(desired: Desired, cluster: Cluster) -> str:
    """Return why an update cannot replace the cluster, with a fix; empty if it can, or if it changes it in place."""
    observed = create_only(cluster.description)
    eks = observed["EksClusterArn"]
    if _name(desired, observed) == desired.physical_id or not eks or desired.create_only["EksClusterArn"] != eks:
        return ""
    return reasons.replaced_on_eks(desired, _changed(desired, observed) or ["cluster_name"])


def _may_go_back(desired: Desired, memory: Memory) -> bool:
    """Return whether a fixed name was removed, perhaps by a rollback: the cluster from before it may still exist."""
    return desired.old_name == desired.physical_id != desired.name and not desired.is_name_fixed and not memory.name_checked


def creates_cluster(desired: Desired, memory: Memory) -> bool:
    """Return whether the request creates its cluster if it does not exist; an adoption never does."""
    is_new = desired.type == "Create" or memory.cluster not in ("", desired.physical_id)
    return not desired.adopt and (is_new or bool(memory.created_at))


def _name(desired: Desired, observed: Json) -> str:
    """Return the name of the cluster to work on; empty if the fixed name prevents the change."""
    if desired.is_name_fixed and desired.name != desired.physical_id:
        return desired.name
    if desired.create_only == observed:
        return desired.physical_id
    return "" if desired.name == desired.physical_id else desired.name


def _refusal(desired: Desired, observed: Json) -> str:
    changed = _changed(desired, observed)
    return (
        f"{', '.join(changed)} of cluster {desired.physical_id} cannot change, and a new cluster cannot have the same name "
        f"({observed[changed[0]]!r} -> {desired.create_only[changed[0]]!r}); remove or change `cluster_name`: this creates a new "
        "cluster and then deletes the old one"
    )


def _changed(desired: Desired, observed: Json) -> list[str]:
    return sorted(name for name, value in desired.create_only.items() if value != observed[name])


def settle(desired: Desired, cluster: Cluster, memory: Memory, clock: Clock) -> Decision:
    """Return the next action on an idle cluster."""
    found = plan(desired, cluster, memory.targets if memory.updated_at else {})
    if any(group.is_deleting for group in cluster.groups if group.name in found.removed):
        return Decision(Wait(cluster.progress), memory)
    if memory.updated_at:
        waiting = _after_update(desired, cluster, found, memory, clock)
        if waiting:
            return waiting
        memory = clear_suspicion(memory)
    elif needs_update(cluster, found, memory):
        return _update(desired, cluster, found, memory, clock)
    return finish(desired, cluster, memory, clock, found)


def needs_update(cluster: Cluster, found: Plan, memory: Memory) -> bool:
    """Return whether an update must change anything; in a cluster that this request created, only groups and counts differ."""
    is_own = bool(memory.created_at or memory.rejected)
    return bool(found.differences) and not (is_own and found.is_met_by(cluster))


def _update(desired: Desired, cluster: Cluster, found: Plan, memory: Memory, clock: Clock) -> Decision:
    remembered, memory = memory, with_enlarged(memory, found)
    # The step can die in UpdateCluster, and a continuous cluster is InService before its nodes: remember them first.
    if cluster.is_continuous and memory != remembered:
        return Decision(Wait(f"adding nodes to {', '.join(found.enlarged)}"), memory)
    memory = memory._replace(old_failure=cluster.failure)
    then = memory._replace(updated_at=str(clock), targets=dict(found.targets), update_seen=False)
    kept = f"; keeping groups that are in neither file: {', '.join(found.kept)}" if found.kept else ""
    # The reply to CreateCluster can be lost: a rejected update then differs only in spelling.
    is_optional = creates_cluster(desired, memory) and _is_younger(cluster, clock) and found.is_met_by(cluster)
    return Decision(Call("UpdateCluster", found.arguments, then, ", ".join(found.differences) + kept, is_optional), memory)


def with_enlarged(memory: Memory, found: Plan) -> Memory:
    """Return the memory with all groups to which this request adds nodes."""
    return memory._replace(awaited=tuple(dict.fromkeys((*memory.awaited, *found.enlarged))))


def _is_younger(cluster: Cluster, clock: Clock) -> bool:
    created = cluster.description.get("CreationTime")
    return created is not None and bool(created >= clock.started)


def _after_update(desired: Desired, cluster: Cluster, found: Plan, memory: Memory, clock: Clock) -> Decision | None:
    """Return what an accepted update still waits for, or its failure; None once the cluster shows it.

    Other differences than in counts and groups may be another spelling: they fail only with a FailureMessage.
    """
    if not found.differences:
        return None
    if not memory.update_seen and clock.since_s(memory.updated_at) < STALE_S:
        return Decision(Wait("DescribeCluster does not show the update yet"), memory)
    is_met = found.is_met_by(cluster) and not found.unset
    if is_met and not memory.failure and cluster.failure == memory.old_failure:
        return None
    memory = suspect(memory, "undone", clock)
    if not is_confirmed(memory, clock, CONFIRM_S):
        return Decision(Wait("confirming that HyperPod rolled back the update"), memory)
    if found.is_met_by(cluster) and not memory.failure and found.unset:
        return Decision(Fail(reasons.kept_members(cluster, found.unset)), memory)
    return Decision(Fail(reasons.update_undone(desired, cluster, memory, ", ".join(found.differences)), diagnose=True), memory)


def finish(desired: Desired, cluster: Cluster, memory: Memory, clock: Clock, found: Plan) -> Decision:
    """Wait for nodes, update tags, and then delete leftover clusters."""
    missing = awaited_nodes(desired, cluster, memory)
    if missing:
        return Decision(Wait(missing), memory)
    call = _tag_call(desired, cluster, memory)
    if call:
        return Decision(call, memory)
    if not is_quiet(memory, clock):
        return Decision(Wait("waiting until no older request can change the cluster"), memory)
    partial = cluster.partial(found.targets) if desired.wait == "nodes" and cluster.is_continuous else ""
    memory = memory._replace(missing_nodes=partial)
    notes = [f"HyperPod adds the rest when it has capacity: {partial}"] if partial else []
    if memory.rejected:
        notes.append(f"DescribeCluster shows other values of {', '.join(found.differences)}, but {memory.rejected}")
    if found.left:
        notes.append(f"HyperPod keeps {', '.join(found.left)} from the update that was rolled back")
    if found.kept:
        notes.append(f"groups kept because they are in neither this file nor the previous one: {', '.join(found.kept)}")
    return with_leftovers(Decision(Succeed("; ".join(notes), attributes_of(memory, cluster.name)), memory), desired)


def awaited_nodes(desired: Desired, cluster: Cluster, memory: Memory) -> str:
    """Return the groups whose nodes the request still waits for, as text."""
    if desired.wait != "nodes":
        return ""
    # The cluster may have a minimum that is not in the file: HyperPod keeps that of an update that was rolled back.
    least = {spec["InstanceGroupName"]: spec.get("MinInstanceCount") for _, spec in desired.groups()}
    return cluster.missing(least if creates_cluster(desired, memory) else memory.awaited, least)


def _tag_call(desired: Desired, cluster: Cluster, memory: Memory) -> Call | None:
    """Return one call that updates the user's tags; other tags and the ownership tags stay."""
    wrong = {key: value for key, value in desired.tags.items() if cluster.tags.get(key) != value}
    if wrong:
        return Call("AddTags", {"ResourceArn": cluster.arn, "Tags": tag_list(wrong)}, memory, ", ".join(sorted(wrong)))
    extra = sorted(key for key in desired.old_tags.keys() - desired.tags.keys() if key in cluster.tags)
    if extra:
        return Call("DeleteTags", {"ResourceArn": cluster.arn, "TagKeys": extra}, memory, ", ".join(extra))
    return None
