"""Runs in Lambda. Which cluster an Update is about: the one it names, or a new one that takes its place."""

from cluster_resource.actions import Decision, Fail, Succeed, Wait
from cluster_resource.desired import Desired
from cluster_resource.event import Json
from cluster_resource.identity import create_only
from cluster_resource.memory import Memory
from cluster_resource.observed import Cluster


def choose(desired: Desired, cluster: Cluster | None, memory: Memory) -> Decision | Memory:
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
        return Decision(Wait(note), memory._replace(cluster=desired.name, tried=True))
    return Decision(Wait(f"{chosen} takes the place of {desired.physical_id}"), memory._replace(cluster=chosen))


def _may_go_back(desired: Desired, memory: Memory) -> bool:
    """Whether a fixed name is taken back, perhaps by a rollback, so that the cluster before it may still be there."""
    return desired.old_name == desired.physical_id != desired.name and not desired.is_name_fixed and not memory.tried


def is_made_by(desired: Desired, memory: Memory) -> bool:
    """Whether the request is to make its cluster, should there be none; one that is to be adopted is never made."""
    is_new = desired.type == "Create" or memory.cluster not in ("", desired.physical_id)
    return not desired.adopt and (is_new or bool(memory.created_at))


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
