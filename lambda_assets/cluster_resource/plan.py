"""Compare the desired with the observed cluster (docs/internals/custom-resource.md, The decision)."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from cluster_resource.desired import Desired
from cluster_resource.event import Json
from cluster_resource.observed import CLUSTER_SETTINGS, Cluster, Group
from cluster_resource.removed_members import PERMANENT, UNDEFINED, differs, kept_members, with_off_values

IMMUTABLE = ("InstanceType", "ExecutionRole", "ThreadsPerCore", "OverrideVpcConfig")
"""Fields that an instance group cannot change; an update must repeat them."""

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
    """Images whose update was rolled back, and changed capacity sources that the cluster does not show."""
    unset: tuple[str, ...]
    """Members that the file removed and the cluster still has."""
    left: tuple[str, ...]
    """Those that the update of a rollback does not unset."""

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
    found = [("", path) for path in kept_members(_settings(desired.request), old, cluster.settings)]
    for spec, before, observed in compared_groups(desired, cluster):
        found += [(observed.name, path) for path in kept_members(spec, before or {}, observed.specification)]
    return found


def compared_groups(desired: Desired, cluster: Cluster) -> Iterator[tuple[Json, Json | None, Group]]:
    """Yield the new and the old specification of each desired group that the cluster has, and the observed group."""
    old = desired.old_groups()
    for _, spec in desired.groups():
        if observed := cluster.group(spec["InstanceGroupName"]):
            yield spec, old.get(observed.name), observed


def _removed(desired: Desired, cluster: Cluster) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
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


def _completed(spec: Json, desired: Desired, cluster: Cluster, targets: Mapping[str, int]) -> Json:
    """Return ``spec`` with the count to send and the observed values of omitted immutable fields."""
    observed = cluster.group(spec["InstanceGroupName"])
    if observed is None:
        return spec
    repeated = {name: observed.specification[name] for name in IMMUTABLE if name in observed.specification}
    full = with_off_values(spec, desired.old_groups().get(observed.name, {}))
    return {**repeated, **full, "InstanceCount": _count(spec, desired, observed, targets)}


def _count(spec: Json, desired: Desired, observed: Group, targets: Mapping[str, int]) -> int:
    """Return the file's count if the file changed it, else the observed count."""
    count = int(spec["InstanceCount"])
    if observed.name in targets:
        return targets[observed.name]
    old = desired.old_groups().get(observed.name)
    return observed.target if old is not None and int(old["InstanceCount"]) == count else count


def _arguments(
    cluster: Cluster, specs: list[tuple[str, Json]], unmanaged: list[Group], removed: tuple[str, ...], settings: Json
) -> Json:
    """Return UpdateCluster's input: every group in full, also unmanaged ones, and the names of groups to delete.

    AWS does not document what happens to a group that an update omits. The image is omitted: sending it would pin it.
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
    for spec, old, observed in compared_groups(desired, cluster):
        is_changed = old is not None and CAPACITY in spec and spec[CAPACITY] != old.get(CAPACITY)
        if is_changed and differs(spec[CAPACITY], observed.specification.get(CAPACITY)):
            yield f"{observed.name}.{CAPACITY}"
