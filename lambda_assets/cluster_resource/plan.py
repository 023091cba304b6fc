"""Runs in Lambda. What an update would change: pure comparison of what is wanted with what DescribeCluster shows.

OldResourceProperties only tell which counts and groups the file changed; they never stand in for the cluster, because a rollback
that was skipped leaves them wrong.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from cluster_resource.desired import Desired
from cluster_resource.event import Json
from cluster_resource.observed import CLUSTER_SETTINGS, Cluster, Group

IMMUTABLE = ("InstanceType", "ExecutionRole", "ThreadsPerCore", "OverrideVpcConfig")
"""Fields that an instance group keeps for life; an update must repeat them."""


IMAGE_FIELDS = ("ImageId", "ImageReleaseVersion")
UPDATABLE = (*CLUSTER_SETTINGS, "RestrictedInstanceGroupsConfig")


class Plan(NamedTuple):
    """The one UpdateCluster that brings a cluster to what is wanted; without ``differences`` there is none to make."""

    arguments: Json
    differences: tuple[str, ...]
    targets: Mapping[str, int]
    removed: tuple[str, ...]
    awaited: tuple[str, ...]
    kept: tuple[str, ...]
    reverted: tuple[str, ...]
    """Images that a software update did not bring, though the cluster is InService."""

    def is_met_by(self, cluster: Cluster) -> bool:
        """Whether the cluster has the groups, counts and images that the plan asks for."""
        have = {group.name: group.target for group in cluster.groups}
        return (
            not self.reverted
            and all(have.get(name) == count for name, count in self.targets.items())
            and not have.keys() & self.removed
        )


def plan(desired: Desired, cluster: Cluster, targets: Mapping[str, int]) -> Plan:
    """Compare; ``targets`` are counts that this request has asked for already."""
    wanted = [(kind, _completed(spec, desired, cluster, targets)) for kind, spec in desired.groups()]
    names = {spec["InstanceGroupName"] for _, spec in wanted}
    removed = tuple(sorted(group.name for group in cluster.groups if group.name in desired.old_groups().keys() - names))
    strangers = [group for group in cluster.groups if group.name not in names and group.name not in removed]
    settings = {
        name: desired.request[name]
        for name in UPDATABLE
        if name in desired.request and differs(desired.request[name], cluster.settings.get(name))
    }
    counts = {spec["InstanceGroupName"]: spec["InstanceCount"] for _, spec in wanted}
    return Plan(
        arguments=_arguments(cluster, wanted, strangers, removed, settings),
        differences=(*_group_differences(wanted, cluster), *(f"group {name} removed" for name in removed), *settings),
        targets=counts,
        removed=removed,
        awaited=tuple(name for name, count in counts.items() if _grows(cluster.group(name), count)),
        kept=tuple(group.name for group in strangers if not group.is_deleting),
        reverted=tuple(_reverted(wanted, cluster)),
    )


def differs(wanted: Any, have: Any) -> bool:
    """Whether ``have`` lacks anything of ``wanted``; what the service adds of its own does not count."""
    if isinstance(wanted, dict):
        return not isinstance(have, dict) or any(differs(value, have.get(name)) for name, value in wanted.items())
    if isinstance(have, datetime) and isinstance(wanted, str):
        return datetime.fromisoformat(wanted).timestamp() != have.timestamp()
    if isinstance(wanted, list) and isinstance(have, list):
        if all(isinstance(item, str) for item in [*wanted, *have]):
            return sorted(wanted) != sorted(have)
        return len(wanted) != len(have) or any(differs(*pair) for pair in zip(wanted, have, strict=True))
    return bool(wanted != have) and not (wanted in ([], {}) and have is None)


def _completed(spec: Json, desired: Desired, cluster: Cluster, targets: Mapping[str, int]) -> Json:
    """``spec`` with the count to send, and with the fixed fields that it leaves to the service's defaults."""
    have = cluster.group(spec["InstanceGroupName"])
    if have is None:
        return spec
    repeated = {name: have.specification[name] for name in IMMUTABLE if name in have.specification}
    return {**repeated, **spec, "InstanceCount": _count(spec, desired, have, targets)}


def _count(spec: Json, desired: Desired, have: Group, targets: Mapping[str, int]) -> int:
    """The count to send: the file's where the file changed it, else what the service has (autoscaling, operators)."""
    wanted = int(spec["InstanceCount"])
    if have.name in targets:
        return targets[have.name]
    old = desired.old_groups().get(have.name)
    return have.target if old is not None and int(old["InstanceCount"]) == wanted else wanted


def _arguments(
    cluster: Cluster, wanted: list[tuple[str, Json]], strangers: list[Group], removed: tuple[str, ...], settings: Json
) -> Json:
    """UpdateCluster's input: every group in full, those made by hand too, and by name the groups to delete.

    The documentation does not say for certain what becomes of a group that an update leaves out. A group made by hand is
    therefore repeated as the service has it, but for its image, which a repetition would pin.
    """
    groups: dict[str, list[Json]] = {}
    for kind, spec in wanted:
        groups.setdefault(kind, []).append(spec)
    for group in strangers:
        if not group.is_deleting:
            spec = {name: value for name, value in group.specification.items() if name not in IMAGE_FIELDS}
            groups.setdefault(group.kind, []).append(spec)
    deletion = {"InstanceGroupsToDelete": list(removed)} if removed else {}
    return {"ClusterName": cluster.name, **groups, **settings, **deletion}


def _group_differences(wanted: list[tuple[str, Json]], cluster: Cluster) -> list[str]:
    found = []
    for _, spec in wanted:
        name = spec["InstanceGroupName"]
        have = cluster.group(name)
        if have is None:
            found.append(f"group {name} added")
            continue
        found += [f"{name}.{field}" for field, value in spec.items() if differs(value, have.specification.get(field))]
    return found


def _reverted(wanted: list[tuple[str, Json]], cluster: Cluster) -> Iterator[str]:
    for _, spec in wanted:
        have = cluster.group(spec["InstanceGroupName"])
        if have and have.is_update_reverted:
            # Nobody can tell which image "default" is.
            asked = {field: spec[field] for field in IMAGE_FIELDS if spec.get(field, "default") != "default"}
            yield from (f"{have.name}.{field}" for field in asked if asked[field] != have.specification.get(field))


def _grows(have: Group | None, count: int) -> bool:
    return have is None or count > have.current


def refusal(desired: Desired, cluster: Cluster | None) -> str:
    """Why the request cannot be done to this cluster (None: one that is to be made); empty when it can."""
    return _without_groups(desired) or _controller(desired, cluster) or (_immutable_fields(desired, cluster) if cluster else "")


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


def _immutable_fields(desired: Desired, cluster: Cluster) -> str:
    """An instance group keeps its type, role, threads and network for life."""
    for group, field, have, wanted in immutable_changes(desired, cluster):
        return _immutable_field(desired, group, field, wanted, have)
    return ""


def immutable_changes(desired: Desired, cluster: Cluster) -> Iterator[tuple[str, str, object, object]]:
    """The group, the field, what it has and what is wanted, wherever an instance group would have to change for life."""
    for _, spec in desired.groups():
        have = cluster.group(spec["InstanceGroupName"])
        if have is None:
            continue
        for field in IMMUTABLE:
            if field in spec and differs(spec[field], have.specification.get(field)):
                yield have.name, field, have.specification.get(field), spec[field]


def _immutable_field(desired: Desired, group: str, field: str, wanted: object, have: object) -> str:
    text = f"{field} of instance group {group!r} cannot change from {have!r} to {wanted!r} while the group lives"
    if group == desired.controller_group:
        return f"{text}; it is the controller and cannot be renamed: change it back, or make a new cluster beside this one"
    return f"{text}; rename the group: the new name makes new nodes, and the old group is deleted"
