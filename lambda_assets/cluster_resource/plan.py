"""Compare the desired with the observed cluster, and refuse changes that the API cannot make. Runs in Lambda.

OldResourceProperties only show which counts and groups the file changed. They do not replace the observed state: after a rollback
with skipped resources they are wrong.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from cluster_resource.desired import Desired
from cluster_resource.event import Json
from cluster_resource.observed import CLUSTER_SETTINGS, PROVISIONING, Cluster, Group

IMMUTABLE = ("InstanceType", "ExecutionRole", "ThreadsPerCore", "OverrideVpcConfig")
"""Fields that an instance group cannot change; an update must repeat them."""

CAPACITY = "CapacityRequirements"
OTHER_CLUSTER = ", or create a new cluster with another `name` or `cluster_name`"

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
    settings = {
        name: desired.request[name]
        for name in UPDATABLE
        if name in desired.request and differs(desired.request[name], cluster.settings.get(name))
    }
    counts = {spec["InstanceGroupName"]: spec["InstanceCount"] for _, spec in specs}
    return Plan(
        arguments=_arguments(cluster, specs, unmanaged, removed, settings),
        differences=(*_group_differences(specs, cluster), *(f"group {name} removed" for name in removed), *settings),
        targets=counts,
        removed=removed,
        enlarged=tuple(name for name, count in counts.items() if _grows(cluster.group(name), count)),
        kept=tuple(group.name for group in unmanaged if not group.is_deleting),
        reverted=(*_reverted(specs, cluster), *_unchanged_capacities(desired, cluster)),
    )


def differs(desired: Any, observed: Any) -> bool:
    """Return whether ``observed`` lacks anything of ``desired``; values that the service adds do not count."""
    if isinstance(desired, dict):
        return not isinstance(observed, dict) or any(differs(value, observed.get(name)) for name, value in desired.items())
    if isinstance(observed, datetime) and isinstance(desired, str):
        return datetime.fromisoformat(desired).timestamp() != observed.timestamp()
    if isinstance(desired, list) and isinstance(observed, list):
        if all(isinstance(item, str) for item in [*desired, *observed]):
            return sorted(desired) != sorted(observed)
        return len(desired) != len(observed) or _lists_differ(desired, observed)
    return bool(desired != observed) and not (desired in ([], {}) and observed is None)


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
    return {**repeated, **spec, "InstanceCount": _count(spec, desired, observed, targets)}


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


def _grows(observed: Group | None, count: int) -> bool:
    return observed is None or count > observed.target


def refusal(desired: Desired, cluster: Cluster | None) -> str:
    """Return why the API cannot make the change to this cluster (None: a new one), with a fix; empty if it can."""
    of_cluster = ""
    if cluster:
        checks = (_setup, _provisioning, _database, _immutable_fields)
        of_cluster = next((text for check in checks if (text := check(desired, cluster))), "")
    return _without_groups(desired) or _controller(desired, cluster) or of_cluster


def _without_groups(desired: Desired) -> str:
    if desired.groups():
        return ""
    return "a cluster must have at least one instance group, got none; keep one, or destroy the stack"


def _controller(desired: Desired, cluster: Cluster | None) -> str:
    """Refuse to remove, rename or scale to 0 the controller group, which holds Slurm's state."""
    name = desired.controller_group
    if not name:
        return ""
    counts = {group["InstanceGroupName"]: int(group["InstanceCount"]) for _, group in desired.groups()}
    if counts.get(name, 0) < 1:
        return f"controller group {name!r} must have at least one node, got {counts.get(name, 0)}; Slurm cannot run without it"
    if cluster and cluster.groups and cluster.group(name) is None:
        names = ", ".join(group.name for group in cluster.groups)
        return (
            f"controller group {name!r} is not in cluster {cluster.name}, which has {names}; the controller group cannot be "
            "renamed: use its old name, or create a new cluster with another `name` or `cluster_name`"
        )
    return ""


def _setup(desired: Desired, cluster: Cluster) -> str:
    """Refuse to change what configures Slurm on a cluster: its nodes keep the first way, and new nodes would get the other."""
    for _, spec in desired.groups():
        group = cluster.group(spec["InstanceGroupName"])
        had, wanted = _configured_by(group.specification) if group else "", _configured_by(spec)
        if had and wanted and had != wanted:
            return (
                f"slurm.setup of cluster {cluster.name} cannot change from `{had}` to `{wanted}`; set `slurm: {{setup: {had}}}`"
                + OTHER_CLUSTER
            )
    return ""


def _provisioning(desired: Desired, cluster: Cluster) -> str:
    """Refuse to change how HyperPod creates nodes, which only CreateCluster can set.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-slurm.html
    """
    mode, old = desired.request.get(PROVISIONING), (desired.old_request or {}).get(PROVISIONING)
    observed = cluster.settings.get(PROVISIONING)
    if mode and mode != observed:
        return f"provisioning of cluster {cluster.name} can be set only at its creation; remove `provisioning`{OTHER_CLUSTER}"
    if observed and old and not mode:
        return f"provisioning of cluster {cluster.name} cannot change; set `provisioning: {str(observed).lower()}`{OTHER_CLUSTER}"
    return ""


def _database(desired: Desired, cluster: Cluster) -> str:
    """Refuse to remove the accounting database, which an update can only omit: HyperPod keeps it."""
    if _has_database(desired.request) or not (_has_database(desired.old_request or {}) and _has_database(cluster.settings)):
        return ""
    return f"slurm.accounting.database of cluster {cluster.name} cannot change; set `database: managed`{OTHER_CLUSTER}"


def _has_database(request: Json) -> bool:
    return "AccountingDatabase" in ((request.get("Orchestrator") or {}).get("Slurm") or {})


def _configured_by(spec: Json) -> str:
    """Return what `slurm.setup` makes of a group; empty for another combination, from `overrides`."""
    scripts = spec.get("LifeCycleConfig") or {}
    if "SlurmConfig" in spec:
        return "api" if "OnInitComplete" in scripts else ""
    return "scripts" if "OnCreate" in scripts else ""


def _immutable_fields(desired: Desired, cluster: Cluster) -> str:
    for group, field, observed, value in immutable_changes(desired, cluster):
        return _immutable_field(desired, group, field, value, observed)
    return ""


def immutable_changes(desired: Desired, cluster: Cluster) -> Iterator[tuple[str, str, object, object]]:
    """Yield the group, the field, its observed and its desired value for each change to an immutable field."""
    for _, spec in desired.groups():
        observed = cluster.group(spec["InstanceGroupName"])
        if observed is None:
            continue
        for field in IMMUTABLE:
            if field in spec and differs(spec[field], observed.specification.get(field)):
                yield observed.name, field, observed.specification.get(field), spec[field]
        old = desired.old_groups().get(observed.name, {})
        if CAPACITY in old and CAPACITY in observed.specification and CAPACITY not in spec:
            yield observed.name, CAPACITY, observed.specification[CAPACITY], None
        keys, old_keys, observed_keys = _key_ids(spec), _key_ids(old), _key_ids(observed.specification)
        if keys not in (old_keys, observed_keys):
            yield observed.name, "VolumeKmsKeyId", observed_keys, keys


def _key_ids(spec: Json) -> str | None:
    """Return the IDs of the keys that encrypt a group's volumes; DescribeCluster may show an ARN as an ID."""
    volumes = [item.get("EbsVolumeConfig") or {} for item in spec.get("InstanceStorageConfigs") or []]
    keys = {str(volume["VolumeKmsKeyId"]).rsplit("/", 1)[-1] for volume in volumes if volume.get("VolumeKmsKeyId")}
    return ", ".join(sorted(keys)) or None


def _immutable_field(desired: Desired, group: str, field: str, value: object, observed: object) -> str:
    text = f"{field} of instance group {group!r} cannot change from {observed!r} to {value!r}"
    if group == desired.controller_group:
        return f"{text}; the controller group cannot be renamed: revert the change, or create a new cluster"
    return f"{text}; rename the group: this creates new nodes and deletes the old group"
