"""Runs in Lambda. Which cluster an Update is about: the one it names, or a new one that takes its place."""

from cluster_resource.actions import Decision, Fail, Wait
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
    chosen = _name(desired, have)
    if not chosen:
        return Decision(Fail(_refusal(desired, have)), memory)
    if chosen == desired.physical_id:
        return memory._replace(cluster=chosen)
    return Decision(Wait(f"{chosen} takes the place of {desired.physical_id}"), memory._replace(cluster=chosen))


def is_made_by(desired: Desired, memory: Memory) -> bool:
    """Whether the request is to make its cluster, should there be none; one that is to be adopted is never made."""
    return not desired.adopt and (desired.type == "Create" or memory.cluster not in ("", desired.physical_id))


def leftover_name(desired: Desired, memory: Memory) -> str:
    """The cluster that a replacement which died before it reported may have left: the one the properties before would make.

    CloudFormation sends the rollback's Update with the failed properties as the old ones, and never a Delete for the id that it
    was not told. Where the old properties made the very cluster of this Update there is nothing to look for.
    """
    if desired.type != "Update" or desired.old_name in ("", desired.physical_id, memory.cluster):
        return ""
    return desired.old_name


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
