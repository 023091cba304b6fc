"""Represent the observed cluster, with DescribeCluster's fields renamed to CreateCluster's."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from cluster_resource.event import Json, Owner, owner_of

GROUP_KINDS = ("InstanceGroups", "RestrictedInstanceGroups")
PROVISIONING = "NodeProvisioningMode"

SAME_NAME = (
    "InstanceGroupName",
    "InstanceType",
    "LifeCycleConfig",
    "ExecutionRole",
    "ThreadsPerCore",
    "InstanceStorageConfigs",
    "OnStartDeepHealthChecks",
    "TrainingPlanArn",
    "OverrideVpcConfig",
    "ScheduledUpdateConfig",
    "CapacityRequirements",
    "SlurmConfig",
    "NetworkInterface",
)
RENAMED = {
    "InstanceCount": ("TargetCount",),
    "MinInstanceCount": ("MinCount",),
    "ImageId": ("DesiredImageId", "CurrentImageId"),
    "ImageReleaseVersion": ("DesiredImageReleaseVersion", "CurrentImageReleaseVersion"),
}
RENAMED_INSIDE = {
    "EnvironmentConfig": {},
    "AutoPatchConfig": {"PatchSchedule": ("DesiredPatchSchedule", "CurrentPatchSchedule")},
    "InstanceRequirements": {"InstanceTypes": ("DesiredInstanceTypes", "CurrentInstanceTypes")},
    "KubernetesConfig": {"Labels": ("DesiredLabels", "CurrentLabels"), "Taints": ("DesiredTaints", "CurrentTaints")},
    "SharedEnvironmentConfig": {
        "FSxLustreConfig": ("DesiredFSxLustreConfig", "CurrentFSxLustreConfig"),
        "FSxLustreDeletionPolicy": ("DesiredFSxLustreDeletionPolicy", "CurrentFSxLustreDeletionPolicy"),
    },
}
CLUSTER_SETTINGS = (
    "NodeRecovery",
    "TieredStorageConfig",
    PROVISIONING,
    "ClusterRole",
    "AutoScaling",
    "Orchestrator",
)
REVERTED = ("Failed", "RollbackComplete")


class Group(NamedTuple):
    """One observed instance group."""

    kind: str
    name: str
    status: str
    target: int
    current: int
    specification: Json
    software_update: str

    @property
    def instance_type(self) -> str:
        """Return the type, as text."""
        return str(self.specification.get("InstanceType", "any type"))

    @property
    def is_deleting(self) -> bool:
        """Return whether the group is being deleted."""
        return self.status == "Deleting"

    @property
    def is_update_reverted(self) -> bool:
        """Return whether the group is InService with its old image."""
        return self.software_update in REVERTED


class Node(NamedTuple):
    """One observed node."""

    group: str
    id: str
    status: str
    message: str
    launched: datetime | None = None

    @property
    def has_failed(self) -> bool:
        """Return whether the node failed, by its status or message."""
        return self.status == "Failure" or bool(self.message)


class Cluster(NamedTuple):
    """One observed cluster; ``nodes`` is None if they were not listed."""

    name: str
    arn: str
    status: str
    failure: str
    groups: tuple[Group, ...]
    settings: Json
    description: Json
    tags: Mapping[str, str]
    nodes: tuple[Node, ...] | None = None

    @property
    def id(self) -> str:
        """Return the last part of the ARN."""
        return self.arn.rsplit("/", 1)[-1]

    @property
    def owner(self) -> Owner | None:
        """Return the owner, from the tags."""
        return owner_of(self.tags)

    def group(self, name: str) -> Group | None:
        """Return the group with that name."""
        return next((group for group in self.groups if group.name == name), None)

    @property
    def is_continuous(self) -> bool:
        """Return whether HyperPod accepts partial capacity for the cluster."""
        return self.settings.get(PROVISIONING) == "Continuous"

    def partial(self, targets: Mapping[str, int]) -> str:
        """Return the groups that run with fewer nodes than requested, as text."""
        running = [(name, self.running(name), count) for name, count in targets.items() if self.nodes is not None]
        return ", ".join(f"{name} ({run} of {count} nodes run)" for name, run, count in running if run < count)

    def running(self, group: str) -> int:
        """Return how many nodes of the group run."""
        return sum(node.group == group and node.status == "Running" for node in self.nodes or ())

    def missing(self, names: Iterable[str], least: Mapping[str, Any] | None = None) -> str:
        """Return the groups among ``names`` with too few running nodes, as text; ``least`` replaces the cluster's minimums."""
        wanted = {*names}
        least = least or {group.name: group.specification.get("MinInstanceCount") for group in self.groups}
        needed = {group.name: min(group.target, least.get(group.name) or group.target) for group in self.groups}
        short = [name for name in needed if name in wanted and self.running(name) < needed[name]]
        return ", ".join(f"{name} {self.running(name)} of {needed[name]} running" for name in short)

    @property
    def progress(self) -> str:
        """Return the node counts of each group, and the states of nodes that do not run."""
        return ", ".join(map(self._progress_of, self.groups)) or "no groups"

    def _progress_of(self, group: Group) -> str:
        states = Counter(node.status for node in self.nodes or () if node.group == group.name and node.status != "Running")
        others = f" ({', '.join(f'{count} {status}' for status, count in states.items())})" if states else ""
        return f"{group.name} {group.current} of {group.target}{others}"


def cluster_of(description: Mapping[str, Any], tags: Mapping[str, str], nodes: Iterable[Mapping[str, Any]] | None) -> Cluster:
    """Return the cluster from the replies of three calls."""
    settings = {name: description[name] for name in CLUSTER_SETTINGS if name in description}
    name = "SharedEnvironmentConfig"
    if shared := (description.get("RestrictedInstanceGroupsConfig") or {}).get(name):
        settings["RestrictedInstanceGroupsConfig"] = {name: _renamed(shared, RENAMED_INSIDE[name])}
    return Cluster(
        name=description["ClusterName"],
        arn=description["ClusterArn"],
        status=description["ClusterStatus"],
        failure=description.get("FailureMessage") or "",
        groups=tuple(_group(kind, group) for kind in GROUP_KINDS for group in description.get(kind) or []),
        settings=settings,
        description=dict(description),
        tags=dict(tags),
        nodes=None if nodes is None else tuple(node_of(node) for node in nodes),
    )


def _group(kind: str, group: Mapping[str, Any]) -> Group:
    return Group(
        kind=kind,
        name=group["InstanceGroupName"],
        status=group.get("Status") or "",
        target=group.get("TargetCount") or 0,
        current=group.get("CurrentCount") or 0,
        specification=_specification(group),
        software_update=group.get("SoftwareUpdateStatus") or "",
    )


def _specification(group: Mapping[str, Any]) -> Json:
    """Return the group as CreateCluster's input; an image whose update was rolled back does not count."""
    if group.get("SoftwareUpdateStatus") in REVERTED:
        group = {name: value for name, value in group.items() if not name.startswith("DesiredImage")}
    inside = {name: _renamed(group[name], table) for name, table in RENAMED_INSIDE.items() if name in group}
    return inside | _found(group, RENAMED | dict.fromkeys(SAME_NAME, ()))


def _renamed(value: Mapping[str, Any], table: Mapping[str, tuple[str, ...]]) -> Json:
    """Return ``value`` with renamed fields under the name in a request."""
    spellings = {"S3OutputPath", *sum(table.values(), ())}  # only shown
    return {name: item for name, item in value.items() if name not in spellings} | _found(value, table)


def _found(value: Mapping[str, Any], table: Mapping[str, tuple[str, ...]]) -> Json:
    """Return the fields of ``table``; the first spelling that exists counts, and the name in a request comes last."""
    return {name: value[each] for name, names in table.items() for each in (name, *reversed(names)) if each in value}


def event_failure(event: Mapping[str, Any]) -> str:
    """Return the failure in an event of DescribeClusterEvent, with its node or group."""
    subject = " ".join(str(event[name]) for name in ("InstanceId", "InstanceGroupName") if event.get(name))
    return ": ".join(part for part in (subject, event.get("Description") or "", event_message(event)) if part)


def event_message(event: Mapping[str, Any]) -> str:
    """Return the failure in an event of DescribeClusterEvent, without its subject."""
    return ": ".join(dict.fromkeys(_failures(event.get("EventDetails"))))


def core(message: str) -> str:
    """Return the part of a message that others repeat: the last line of a lifecycle script, or all."""
    match = re.search(r"lifecycle script failed: .*?(?=\. See log stream |$)", message)
    return match[0] if match else message


def _failures(metadata: Any) -> Iterable[str]:
    """Yield every FailureMessage at any depth: its place depends on the kind of event."""
    for name, value in metadata.items() if isinstance(metadata, dict) else ():
        if name == "FailureMessage" and value:
            yield value
        yield from _failures(value)


def node_of(node: Mapping[str, Any]) -> Node:
    """Return the node in a summary of ListClusterNodes."""
    status = node.get("InstanceStatus") or {}
    state, message = status.get("Status") or "", status.get("Message") or ""
    return Node(node["InstanceGroupName"], node["InstanceId"], state, message, node.get("LaunchTime"))
