"""Refuse changes that the API cannot make, before any call."""

from collections.abc import Iterable, Iterator

from cluster_resource.desired import Desired
from cluster_resource.event import Json
from cluster_resource.observed import PROVISIONING, Cluster
from cluster_resource.plan import CAPACITY, IMAGE_FIELDS, IMMUTABLE, compared_groups, removed_members
from cluster_resource.removed_members import PERMANENT, differs

RENAME = "rename the group: this creates new nodes and deletes the old group"
OTHER_CLUSTER = ", or create a new cluster with another `name` or `cluster_name`"


def refusal(desired: Desired, cluster: Cluster | None) -> str:
    """Return why the API cannot make the change to this cluster (None: a new one), with a fix; empty if it can."""
    of_cluster = ""
    if cluster:
        checks = (_setup, _provisioning, _database, _immutable_fields, _permanent_members)
        of_cluster = next((text for check in checks if (text := check(desired, cluster))), "")
    return _without_groups(desired) or _controller(desired, cluster) or of_cluster


def _without_groups(desired: Desired) -> str:
    if desired.groups():
        return ""
    return "a cluster must have at least one instance group, got none; keep one, or destroy the stack"


def _controller(desired: Desired, cluster: Cluster | None) -> str:
    """Refuse to remove, rename or empty the controller group, which holds Slurm's state."""
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
            f"renamed: use its old name{OTHER_CLUSTER}"
        )
    return ""


def _setup(desired: Desired, cluster: Cluster) -> str:
    """Refuse to change what configures Slurm on a cluster: only new nodes would get it."""
    for spec, _, group in compared_groups(desired, cluster):
        had, wanted = _configured_by(group.specification), _configured_by(spec)
        if had and wanted and had != wanted:
            first = "follow docs/operate/slurm-setup.md, or " if wanted == "api" else ""
            return (
                f"slurm.setup of cluster {cluster.name} cannot change from `{had}` to `{wanted}`; {first}set "
                f"`slurm: {{setup: {had}}}`{OTHER_CLUSTER}"
            )
    return ""


def _provisioning(desired: Desired, cluster: Cluster) -> str:
    """Refuse to change how HyperPod creates nodes, which only CreateCluster can set."""
    mode, old = desired.request.get(PROVISIONING), (desired.old_request or {}).get(PROVISIONING)
    observed = cluster.settings.get(PROVISIONING)
    if mode and mode != observed:
        return f"provisioning of cluster {cluster.name} can be set only at its creation; remove `provisioning`{OTHER_CLUSTER}"
    if observed and old and not mode:
        return f"provisioning of cluster {cluster.name} cannot change; set `provisioning: {str(observed).lower()}`{OTHER_CLUSTER}"
    return ""


def _database(desired: Desired, cluster: Cluster) -> str:
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


def _permanent_members(desired: Desired, cluster: Cluster) -> str:
    """Refuse to remove members that no update can unset; a rollback must succeed."""
    for group, member in [] if desired.is_rollback else removed_members(desired, cluster):
        if member in PERMANENT:
            observed = cluster.group(group)
            value = (observed.specification if observed else cluster.settings)[member]
            where = f"instance group {group!r}" if group else f"cluster {cluster.name}"
            instead = "its InstanceCount, so that all nodes are required" if member == "MinInstanceCount" else repr(value)
            renamed = group and group != desired.controller_group
            fix = RENAME if renamed else OTHER_CLUSTER.removeprefix(", or ")
            return f"{member} of {where} cannot be removed: HyperPod keeps {value!r}; set it to {instead}, or {fix}"
    return ""


def _immutable_fields(desired: Desired, cluster: Cluster) -> str:
    for group, field, observed, value in immutable_changes(desired, cluster):
        text = f"{field} of instance group {group!r} cannot change from {observed!r} to {value!r}"
        if field in IMAGE_FIELDS:
            option = f"--image-id {value} --instance-groups InstanceGroupName={group}"
            release = f"--instance-groups InstanceGroupName={group},{field}={value}"
            command = f"update-cluster-software --cluster-name {cluster.name} {option if field == 'ImageId' else release}"
            return f"{text}; first run `aws sagemaker {command}`, which ends its jobs"
        if group == desired.controller_group:
            return f"{text}; the controller group cannot be renamed: revert the change, or create a new cluster"
        return f"{text}; {RENAME}"
    return ""


def immutable_changes(desired: Desired, cluster: Cluster) -> Iterator[tuple[str, str, object, object]]:
    """Yield the group, the field, its observed and its desired value for each change that UpdateCluster must not make."""
    for spec, old, observed in compared_groups(desired, cluster):
        changed = _immutable_changes(spec, old or {}, observed.specification, [] if desired.is_rollback else IMAGE_FIELDS)
        yield from ((observed.name, *each) for each in changed)


def _immutable_changes(spec: Json, old: Json, observed: Json, images: Iterable[str]) -> Iterator[tuple[str, object, object]]:
    for field in IMMUTABLE:
        if field in spec and differs(spec[field], observed.get(field)):
            yield field, observed.get(field), spec[field]
    if CAPACITY in old and CAPACITY in observed and CAPACITY not in spec:
        yield CAPACITY, observed[CAPACITY], None
    for field in images:  # only UpdateClusterSoftware changes them, and it restarts all nodes
        if spec.get(field, "default") not in ("default", old.get(field), observed.get(field)):
            yield field, observed.get(field), spec[field]
    keys, old_keys, observed_keys = _key_ids(spec), _key_ids(old), _key_ids(observed)
    if keys not in (old_keys, observed_keys):
        yield "VolumeKmsKeyId", observed_keys, keys


def _key_ids(spec: Json) -> str | None:
    """Return the IDs of the keys that encrypt a group's volumes; DescribeCluster may show an ARN as an ID."""
    volumes = [item.get("EbsVolumeConfig") or {} for item in spec.get("InstanceStorageConfigs") or []]
    keys = {str(volume["VolumeKmsKeyId"]).rsplit("/", 1)[-1] for volume in volumes if volume.get("VolumeKmsKeyId")}
    return ", ".join(sorted(keys)) or None
