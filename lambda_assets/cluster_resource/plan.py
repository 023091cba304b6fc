"""Compare the desired with the observed cluster, and refuse changes that the API cannot make.

OldResourceProperties only show which counts and groups the file changed. They do not replace the observed state: after a rollback
with skipped resources they are wrong.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from cluster_resource.desired import Desired
from cluster_resource.event import Json
from cluster_resource.observed import CLUSTER_SETTINGS, Cluster, Group
from cluster_resource.removed_members import PERMANENT, UNDEFINED, kept_members, with_off_values

IMMUTABLE = ("InstanceType", "ExecutionRole", "ThreadsPerCore", "OverrideVpcConfig")
"""Fields that an instance group cannot change; an update must repeat them."""

KUBERNETES = ("Labels", "Taints")
"""Members that are empty in a request and missing in DescribeCluster if they are unset."""

CAPACITY = "CapacityRequirements"

IMAGE_FIELDS = ("ImageId", "ImageReleaseVersion")
UPDATABLE = (*CLUSTER_SETTINGS, "RestrictedInstanceGroupsConfig")


class Plan(NamedTuple):
    """The UpdateCluster call that brings a cluster to the desired state; not needed without ``differences``."""

    arguments: Json
    differences: tuple[str, ...]
    targets: Mapping[str, int]
    removed: tuple[str, ...]
    enlarged: tuple[str, ...]
    """Groups to which the call adds nodes; a node that failed before does not count."""
    kept: tuple[str, ...]
    reverted: tuple[str, ...]
    """Images whose software update was rolled back, and changed capacity sources that the InService cluster does not show."""
    unset: tuple[str, ...]
    """Members that the file removed and the cluster still has."""
    left: tuple[str, ...]
    """Those that the update of a rollback does not unset: no update can, or their value before is unknown."""

    def is_met_by(self, cluster: Cluster) -> bool:
        """Return whether the cluster has the planned groups, counts, images and changed capacity sources."""
        counts = {group.name: group.target for group in cluster.groups}
        return (
            not self.reverted
            and all(counts.get(name) == count for name, count in self.targets.items())
            and not counts.keys() & self.removed
        )


def plan(desired: Desired, cluster: Cluster, targets: Mapping[str, int]) -> Plan:
    """Return the plan; ``targets`` are the counts that this request has set already."""
    specs = [(kind, _completed(spec, desired, cluster, targets)) for kind, spec in desired.groups()]
    names = {spec["InstanceGroupName"] for _, spec in specs}
    removed = tuple(sorted(group.name for group in cluster.groups if group.name in desired.old_groups().keys() - names))
    unmanaged = [group for group in cluster.groups if group.name not in names and group.name not in removed]
    unset, left = _removed(desired, cluster)
    changed = {path.split(".")[0] for group, path in unset if not group}
    settings = {
        name: value
        for name, value in _with_off_values(_settings(desired.request), _settings(desired.old_request or {}), desired).items()
        if name in changed or differs(value, cluster.settings.get(name))
    }
    differences = (*_group_differences(specs, cluster), *(f"group {name} removed" for name in removed), *settings)
    counts = {spec["InstanceGroupName"]: spec["InstanceCount"] for _, spec in specs}
    return Plan(
        arguments=_arguments(cluster, specs, unmanaged, removed, settings),
        differences=tuple(dict.fromkeys((*differences, *map(_place, unset)))),
        targets=counts,
        removed=removed,
        enlarged=tuple(name for name, count in counts.items() if (seen := cluster.group(name)) is None or count > seen.target),
        kept=tuple(group.name for group in unmanaged if not group.is_deleting),
        reverted=(*_reverted(specs, cluster), *_unchanged_capacities(desired, cluster)),
        unset=tuple(map(_place, unset)),
        left=tuple(map(_place, left)),
    )


def removed_members(desired: Desired, cluster: Cluster) -> list[tuple[str, str]]:
    """Return group (empty: the cluster) and path of each member that the file removed and the cluster still has."""
    old = _settings(desired.old_request or {})
    found = [("", path) for path in kept_members(_settings(desired.request), old, cluster.settings, differs)]
    for _, spec in desired.groups():
        observed, before = cluster.group(spec["InstanceGroupName"]), desired.old_groups().get(spec["InstanceGroupName"], {})
        if observed:
            found += [(observed.name, path) for path in kept_members(spec, before, observed.specification, differs)]
    return found


def _removed(desired: Desired, cluster: Cluster) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the removed members that an update must unset, and those that it leaves."""
    left = {*PERMANENT, *(UNDEFINED if desired.is_rollback else ())}
    members = removed_members(desired, cluster)
    return [each for each in members if each[1] not in left], [each for each in members if each[1] in left]


def _with_off_values(new: Json, old: Json, desired: Desired) -> Json:
    full = with_off_values(new, old)
    return {name: full[name] for name in full if name in new or not (desired.is_rollback and name in UNDEFINED)}


def _settings(request: Json) -> Json:
    return {name: request[name] for name in UPDATABLE if name in request}


def _place(member: tuple[str, str]) -> str:
    return ".".join(filter(None, member))


def differs(desired: Any, observed: Any) -> bool:
    """Return whether ``observed`` lacks anything of ``desired``; values that the service adds do not count."""
    if isinstance(desired, dict):
        seen = observed if isinstance(observed, dict) else None
        members = {name: value for name, value in desired.items() if value or name not in KUBERNETES or (seen or {}).get(name)}
        if seen is None:
            return bool(members) or not desired
        return any(differs(value, seen.get(name)) for name, value in members.items())
    if isinstance(observed, datetime) and isinstance(desired, str):
        return datetime.fromisoformat(desired).timestamp() != observed.timestamp()
    if isinstance(desired, list) and isinstance(observed, list):
        if all(isinstance(item, str) for item in [*desired, *observed]):
            return sorted(desired) != sorted(observed)
        return len(desired) != len(observed) or _lists_differ(desired, observed)
    return bool(desired != observed) and not (desired == [] and observed is None)


def _lists_differ(desired: list[Any], observed: list[Any]) -> bool:
    """Return whether two lists of the same length differ in more than their order."""
    are_same = [[not differs(item, other) for other in observed] for item in desired]
    return not (all(map(any, are_same)) and all(map(any, zip(*are_same, strict=True))))


def _completed(spec: Json, desired: Desired, cluster: Cluster, targets: Mapping[str, int]) -> Json:
    """Return ``spec`` with the count to send and the observed values of omitted immutable fields."""
    observed = cluster.group(spec["InstanceGroupName"])
    if observed is None:
        return spec
    repeated = {name: observed.specification[name] for name in IMMUTABLE if name in observed.specification}
    full = with_off_values(spec, desired.old_groups().get(observed.name, {}))
    return {**repeated, **full, "InstanceCount": _count(spec, desired, observed, targets)}


def _count(spec: Json, desired: Desired, observed: Group, targets: Mapping[str, int]) -> int:
    """Return the file's count if the file changed it, else the observed count (autoscaling, operators)."""
    count = int(spec["InstanceCount"])
    if observed.name in targets:
        return targets[observed.name]
    old = desired.old_groups().get(observed.name)
    return observed.target if old is not None and int(old["InstanceCount"]) == count else count


def _arguments(
    cluster: Cluster, specs: list[tuple[str, Json]], unmanaged: list[Group], removed: tuple[str, ...], settings: Json
) -> Json:
    """Return UpdateCluster's input: every group in full, also unmanaged ones, and the names of groups to delete.

    AWS does not document what happens to a group that an update omits. So unmanaged groups are repeated as observed, without
    their image: sending it would pin it.
    """
    groups: dict[str, list[Json]] = {}
    for kind, spec in specs:
        groups.setdefault(kind, []).append(spec)
    for group in unmanaged:
        if not group.is_deleting:
            spec = {name: value for name, value in group.specification.items() if name not in IMAGE_FIELDS}
            groups.setdefault(group.kind, []).append(spec)
    deletion = {"InstanceGroupsToDelete": list(removed)} if removed else {}
    return {"ClusterName": cluster.name, **groups, **settings, **deletion}


def _group_differences(specs: list[tuple[str, Json]], cluster: Cluster) -> list[str]:
    found = []
    for _, spec in specs:
        name = spec["InstanceGroupName"]
        observed = cluster.group(name)
        if observed is None:
            found.append(f"group {name} added")
            continue
        found += [f"{name}.{field}" for field, value in spec.items() if differs(value, observed.specification.get(field))]
    return found


def _reverted(specs: list[tuple[str, Json]], cluster: Cluster) -> Iterator[str]:
    for _, spec in specs:
        observed = cluster.group(spec["InstanceGroupName"])
        if observed and observed.is_update_reverted:
            # The image behind "default" is unknown.
            images = {field: spec[field] for field in IMAGE_FIELDS if spec.get(field, "default") != "default"}
            yield from (f"{observed.name}.{field}" for field in images if images[field] != observed.specification.get(field))


def _unchanged_capacities(desired: Desired, cluster: Cluster) -> Iterator[str]:
    for _, spec in desired.groups():
        observed, old = cluster.group(spec["InstanceGroupName"]), desired.old_groups().get(spec["InstanceGroupName"])
        is_changed = old is not None and CAPACITY in spec and spec[CAPACITY] != old.get(CAPACITY)
        if observed and is_changed and differs(spec[CAPACITY], observed.specification.get(CAPACITY)):
            yield f"{observed.name}.{CAPACITY}"
