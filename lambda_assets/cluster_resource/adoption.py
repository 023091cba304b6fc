"""Adopt an existing cluster by its name, and release it at the Delete (docs/adr/0006-adoption.md)."""

from cluster_resource.deadline import Clock
from cluster_resource.decision import Call, Decision, Fail, Memory, Succeed, Wait
from cluster_resource.desired import Desired
from cluster_resource.event import create_only, tag_list
from cluster_resource.observed import Cluster
from cluster_resource.plan import compared_groups
from cluster_resource.refusals import immutable_changes, refusal

IDLE = "InService"
LOST = ("Failed", "Deleting")
LEFT_STACK_S = 900
"""A cluster that is this much older than a Create is not its own."""


def adopt(desired: Desired, cluster: Cluster, memory: Memory) -> Decision:
    """Add the ownership tags; later steps update what differs."""
    if cluster.status in LOST:
        lost = f"cluster {cluster.name} is {cluster.status} and cannot be adopted; delete it, and deploy without `adopt`"
        return Decision(Fail(lost), memory)
    obstacles = adoption_obstacles(desired, cluster)
    if obstacles:
        return Decision(Fail(_not_adopted(cluster, obstacles, unchanged="nothing was changed; ")), memory)
    if cluster.status != IDLE:
        return Decision(Wait(f"waiting until the cluster is {IDLE} to adopt it: {cluster.progress}"), memory)
    arguments = {"ResourceArn": cluster.arn, "Tags": tag_list(desired.owner.tags)}
    return Decision(Call("AddTags", arguments, memory, "adopting the cluster"), memory)


def adoption_refusal(desired: Desired, cluster: Cluster, memory: Memory) -> str:
    """Return why a cluster with the owner's old tags cannot be adopted; empty if it can, or if this request has changed it."""
    if not desired.adopt or desired.type != "Create" or memory.updated_at:
        return ""
    obstacles = adoption_obstacles(desired, cluster)
    return _not_adopted(cluster, obstacles) if obstacles else ""


def has_left_stack(desired: Desired, cluster: Cluster, memory: Memory, clock: Clock) -> bool:
    """Return whether a cluster with the owner's tags left the stack: a rollback of this Create must not delete it."""
    if desired.type != "Create" or desired.adopt or memory.created_at or memory.arn or cluster.status in LOST:
        return False
    created = cluster.description.get("CreationTime")
    return created is not None and (clock.started - created).total_seconds() > LEFT_STACK_S


def adoption_obstacles(desired: Desired, cluster: Cluster) -> list[str]:
    """Return the differences that no update can fix, and those that would remove nodes in use."""
    observed = create_only(cluster.description)
    changes = [(name, observed[name], value) for name, value in desired.create_only.items() if value != observed[name]]
    changes += [(f"{group}.{field}", have, value) for group, field, have, value in immutable_changes(desired, cluster)]
    for spec, _, group in compared_groups(desired, cluster):
        if int(spec["InstanceCount"]) < group.target:
            changes.append((f"{group.name}.InstanceCount", group.target, spec["InstanceCount"]))
    found = [f"{name} is {have!r}, the file has {value!r}" for name, have, value in changes]
    return found or [text for text in [refusal(desired, cluster)] if text]


def nothing_to_adopt(name: str) -> str:
    """Report that no cluster has the name."""
    return f"no cluster {name} to adopt; correct `cluster_name`, or remove `adopt` to create a cluster"


def adopted_is_absent(name: str) -> str:
    """Report that the adopted cluster of an update does not exist."""
    return (
        f"the adopted cluster {name} no longer exists: it was deleted outside CloudFormation; replace `adopt` with "
        "`recreate: true` to create a new one with its name"
    )


def _not_adopted(cluster: Cluster, obstacles: list[str], unchanged: str = "") -> str:
    return (
        f"cluster {cluster.name} cannot be adopted: {'; '.join(obstacles)}; {unchanged}copy the cluster's values to the file "
        "(`./hpod adopt CLUSTER` shows them), and change them in a later deployment"
    )


def release(desired: Desired, cluster: Cluster, memory: Memory, *, is_quiet: bool) -> Decision:
    """Remove the ownership tags, and keep the cluster."""
    if cluster.owner == desired.owner:
        keys = sorted(desired.owner.tags)
        call = Call("DeleteTags", {"ResourceArn": cluster.arn, "TagKeys": keys}, memory, "releasing the cluster")
        return Decision(call, memory)
    if cluster.owner is None and not is_quiet:
        return Decision(Wait("released; waiting until no older request can adopt the cluster"), memory)
    return Decision(Succeed(f"not deleted because it was adopted: {cluster.arn}"), memory)
