"""Runs in Lambda. Changes that are refused before any call, each with the way out."""

from collections.abc import Iterator

from cluster_resource.desired import Desired
from cluster_resource.observed import Cluster
from cluster_resource.plan import FIXED, differs


def refusal(desired: Desired, cluster: Cluster | None) -> str:
    """Why the request cannot be done to this cluster (None: one that is to be made); empty when it can."""
    return _without_groups(desired) or _controller(desired, cluster) or (_fixed_fields(desired, cluster) if cluster else "")


def _without_groups(desired: Desired) -> str:
    if desired.groups():
        return ""
    return "a cluster keeps at least one instance group, got none; leave one in, or destroy the stack"


def _controller(desired: Desired, cluster: Cluster | None) -> str:
    """Slurm's controller holds the cluster's state: it can be neither removed, renamed nor scaled to 0."""
    name = desired.controller_group
    if not name:
        return ""
    counts = {group["InstanceGroupName"]: int(group["InstanceCount"]) for _, group in desired.groups()}
    if counts.get(name, 0) < 1:
        return f"controller group {name!r} must have at least one node, got {counts.get(name, 0)}; without it there is no Slurm"
    if cluster and cluster.groups and cluster.group(name) is None:
        names = ", ".join(group.name for group in cluster.groups)
        return (
            f"controller group {name!r} is not in cluster {cluster.name}, which has {names}; a controller cannot be renamed: "
            "give it its old name, or make a new cluster under another `name` or `cluster_name`"
        )
    return ""


def _fixed_fields(desired: Desired, cluster: Cluster) -> str:
    """An instance group keeps its type, role, threads and network for life."""
    for group, field, have, wanted in fixed_changes(desired, cluster):
        return _fixed_field(desired, group, field, wanted, have)
    return ""


def fixed_changes(desired: Desired, cluster: Cluster) -> Iterator[tuple[str, str, object, object]]:
    """The group, the field, what it has and what is wanted, wherever an instance group would have to change for life."""
    for _, spec in desired.groups():
        have = cluster.group(spec["InstanceGroupName"])
        if have is None:
            continue
        for field in FIXED:
            if field in spec and differs(spec[field], have.specification.get(field)):
                yield have.name, field, have.specification.get(field), spec[field]


def _fixed_field(desired: Desired, group: str, field: str, wanted: object, have: object) -> str:
    text = f"{field} of instance group {group!r} cannot change from {have!r} to {wanted!r} while the group lives"
    if group == desired.controller_group:
        return f"{text}; it is the controller and cannot be renamed: change it back, or make a new cluster beside this one"
    return f"{text}; rename the group: the new name makes new nodes, and the old group is deleted"
