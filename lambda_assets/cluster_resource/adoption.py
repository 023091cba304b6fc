"""Runs in Lambda. A cluster that somebody else made: taken over by its name, and given back by the Delete.

While the file says `adopt`, no Delete deletes. That a Create failed is nothing that a Delete is told, and the rollback of a
deployment that failed elsewhere looks like the end of the stack: both must leave a cluster that was there before.
"""

from cluster_resource.deadline import Clock
from cluster_resource.decision import Call, Decision, Fail, Memory, Succeed, Wait
from cluster_resource.desired import Desired
from cluster_resource.event import create_only
from cluster_resource.observed import Cluster
from cluster_resource.plan import immutable_changes, refusal

IDLE = "InService"
LOST = ("Failed", "Deleting")
LEFT_STACK_S = 900
"""How much older than a Create a cluster is that no call for that Create can have made."""


def adopt(desired: Desired, cluster: Cluster, memory: Memory) -> Decision:
    """Put the owner's tags on, which is all that taking over needs; what differs is the next steps'."""
    if cluster.status in LOST:
        lost = f"cluster {cluster.name} is {cluster.status} and cannot be adopted; delete it, and deploy without `adopt`"
        return Decision(Fail(lost), memory)
    obstacles = adoption_obstacles(desired, cluster)
    if obstacles:
        return Decision(Fail(_not_adopted(cluster, obstacles, touched="nothing was touched; ")), memory)
    if cluster.status != IDLE:
        return Decision(Wait(f"to be taken over once it is {IDLE}: {cluster.progress}"), memory)
    tags = [{"Key": key, "Value": value} for key, value in sorted(desired.owner.tags.items())]
    return Decision(Call("AddTags", {"ResourceArn": cluster.arn, "Tags": tags}, memory, "taken over"), memory)


def adoption_refusal(desired: Desired, cluster: Cluster, memory: Memory) -> str:
    """Why a cluster that has the owner's tags cannot be adopted; empty when it can, or when the request has changed it already.

    The tags may be from before it left the stack, and others may have changed it since they were put on.
    """
    if not desired.adopt or desired.type != "Create" or memory.updated_at:
        return ""
    obstacles = adoption_obstacles(desired, cluster)
    return _not_adopted(cluster, obstacles) if obstacles else ""


def has_left_stack(desired: Desired, cluster: Cluster, memory: Memory, clock: Clock) -> bool:
    """Whether a cluster with the owner's tags left the stack and runs on: it was there well before this Create.

    To take it for the Create's own would let the rollback of a deployment that fails elsewhere delete it. What a call of this
    request, or of one just before it, has made is younger.
    """
    if desired.type != "Create" or desired.adopt or memory.created_at or memory.arn or cluster.status in LOST:
        return False
    made = cluster.description.get("CreationTime")
    return made is not None and (clock.started - made).total_seconds() > LEFT_STACK_S


def adoption_obstacles(desired: Desired, cluster: Cluster) -> list[str]:
    """What no update can make of the cluster, and what would take nodes from those who work on it."""
    have = create_only(cluster.description)
    found = [_difference(name, have[name], value) for name, value in desired.create_only.items() if value != have[name]]
    found += [_difference(f"{group}.{field}", have, wanted) for group, field, have, wanted in immutable_changes(desired, cluster)]
    for _, spec in desired.groups():
        group = cluster.group(spec["InstanceGroupName"])
        if group and int(spec["InstanceCount"]) < group.target:
            found.append(_difference(f"{group.name}.InstanceCount", group.target, spec["InstanceCount"]))
    return found or [text for text in [refusal(desired, cluster)] if text]


def _difference(name: str, have: object, wanted: object) -> str:
    return f"{name} is {have!r} and not {wanted!r}"


def nothing_to_adopt(name: str) -> str:
    """There is no cluster of that name."""
    return f"there is no cluster {name} to adopt; correct `cluster_name`, or remove `adopt` to have one made"


def adopted_is_absent(name: str) -> str:
    """The cluster of an update was adopted, and is not there any more."""
    return (
        f"the adopted cluster {name} does not exist any more: it was deleted outside CloudFormation; to have a new one made "
        "under its name, put `recreate: true` in the place of `adopt`"
    )


def _not_adopted(cluster: Cluster, obstacles: list[str], touched: str = "") -> str:
    return (
        f"cluster {cluster.name} cannot be adopted: {'; '.join(obstacles)}; {touched}put into the file what the "
        "cluster has, as `python -m ops adopt CLUSTER` shows it, and change it in a later deployment"
    )


def release(desired: Desired, cluster: Cluster, memory: Memory, *, is_quiet: bool) -> Decision:
    """Take the owner's tags off, which is all that giving back needs."""
    if cluster.owner == desired.owner:
        keys = sorted(desired.owner.tags)
        return Decision(Call("DeleteTags", {"ResourceArn": cluster.arn, "TagKeys": keys}, memory, "given back"), memory)
    if cluster.owner is None and not is_quiet:
        return Decision(Wait("given back; waiting whether an older request still takes it over"), memory)
    return Decision(Succeed(f"not deleted, as it was adopted: {cluster.arn}"), memory)
