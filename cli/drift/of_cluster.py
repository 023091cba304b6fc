"""Differences between the cluster file, DescribeCluster and the nodes, decided as the custom resource decides them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cli.deployment import Deployment
from cli.desired_cluster import deployed_request, desired_cluster
from cli.moved_nodes import FIX, MOVING, moved_nodes
from cli.node_reports import Report
from cli.resource_code import IMAGE_FIELDS, Cluster, ClusterApi, Desired, immutable_changes, is_reserved, plan
from cli.result import Json

COUNT = "InstanceCount"
UPDATE = "a deployment sets it with UpdateCluster"
KEEP = "a deployment keeps it: the file did not change the count since the last deployment"
IMAGE = "a deployment fails: first run `aws sagemaker update-cluster-software`, or undo the change"
REFUSE = "a deployment fails: the API cannot change it; rename the group to recreate its nodes"
ROLLOUT = "a deployment with `lifecycle.follow: live` updates the node; else replace the node"
SOFTWARE = "no deployment updates images; run `aws sagemaker update-cluster-software`"
MISSING = "no deployment is needed: HyperPod launches missing nodes; read `./hpod events`"
IN_MOVE = "no deployment is needed: HyperPod moves nodes; compare again when none is AttachInProgress or DetachInProgress"
SURPLUS = "no deployment removes it; if HyperPod does not either, run `./hpod delete`"


@dataclass(frozen=True)
class Difference:
    """A field whose value differs, and what a deployment would do about it; None is an absent value."""

    place: str
    field: str
    file: object
    actual: object
    deployment: str

    def data(self) -> Json:
        """Return the difference for JSON."""
        return {
            "place": self.place,
            "field": self.field,
            "desired": _text(self.file),
            "observed": _text(self.actual),
            "deployment": self.deployment,
        }

    @property
    def lines(self) -> str:
        """Return the difference as text."""
        return f"{self.place}: {self.field}: file {_shown(self.file)}, actual {_shown(self.actual)}\n    {self.deployment}"


def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, default=str)


def _shown(value: object) -> str:
    return "none" if value is None else str(_text(value))


def cluster_differences(deployment: Deployment, cluster: Cluster, api: ClusterApi) -> Iterator[Difference]:
    """Yield the fields, counts and tags that differ, and the groups that only one side has."""
    desired = desired_cluster(deployment, cluster, api, deployed_request(deployment))
    found, moved = plan(desired, cluster, {}), moved_nodes(desired, cluster)
    immutable = {(group, field) for group, field, *_ in immutable_changes(desired, cluster)}
    specs: dict[str, Json] = {spec["InstanceGroupName"]: spec for _, spec in desired.groups()}
    for name in dict.fromkeys((*found.differences, *found.left)):
        group, _, field = name.partition(".")
        if group in specs and field and (observed := cluster.group(group)):
            refused = IMAGE if field in IMAGE_FIELDS else REFUSE
            action = refused if (group, field) in immutable or name in found.left else _set(group, field, moved)
            yield Difference(f"group {group}", field, _at(specs[group], field), _at(observed.specification, field), action)
        elif (actual := _at(cluster.settings, name)) is not None or group in desired.request:
            yield Difference("cluster", name, _at(desired.request, name), actual, REFUSE if name in found.left else UPDATE)
    yield from _group_counts(specs, found.differences, cluster, moved)
    yield from _groups(specs, found.removed, found.kept, cluster)
    yield from _tags(desired, cluster)


def _set(group: str, field: str, moved: Mapping[str, str]) -> str:
    """Return that a deployment sets the field, with what to do first if that undoes a move of nodes."""
    return f"{UPDATE}; {moved[group]} First {FIX}" if field == COUNT and group in moved else UPDATE


def _group_counts(
    specs: dict[str, Json], known: tuple[str, ...], cluster: Cluster, moved: Mapping[str, str]
) -> Iterator[Difference]:
    """Yield counts that someone changed outside the file, which a deployment keeps."""
    for name, spec in specs.items():
        observed = cluster.group(name)
        if observed and observed.target != int(spec[COUNT]) and f"{name}.{COUNT}" not in known:
            action = f"{KEEP}; {moved[name]}" if name in moved else KEEP
            yield Difference(f"group {name}", COUNT, spec[COUNT], observed.target, action)


def _groups(specs: dict[str, Json], removed: tuple[str, ...], kept: tuple[str, ...], cluster: Cluster) -> Iterator[Difference]:
    """Yield the groups that only the file or only the cluster has."""
    for name, spec in specs.items():
        if cluster.group(name) is None:
            yield Difference(f"group {name}", "group", f"{spec[COUNT]} nodes", None, "a deployment adds the group")
    for name in (*removed, *kept):
        observed = cluster.group(name)
        action = "deletes the group: the file removed it" if name in removed else "keeps the group: no deployment created it"
        yield Difference(f"group {name}", "group", None, f"{observed.target if observed else 0} nodes", f"a deployment {action}")


def _tags(desired: Desired, cluster: Cluster) -> Iterator[Difference]:
    for key, value in sorted(desired.tags.items()):
        if cluster.tags.get(key) != value:
            yield Difference("cluster", f"tag {key}", value, cluster.tags.get(key), "a deployment sets the tag")
    for key, value in sorted(cluster.tags.items()):
        if key not in desired.tags and not is_reserved(key):
            yield Difference("cluster", f"tag {key}", None, value, "a deployment keeps the tag")


def _at(value: object, path: str) -> object:
    """Return the value at a path of members."""
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def node_differences(
    cluster: Cluster, nodes: list[dict[str, Any]], states: Mapping[str, Report], bundle: str
) -> Iterator[Difference]:
    """Yield missing and surplus nodes, and nodes with another image than their group or another bundle than the deployment."""
    yield from _node_counts(cluster, nodes)
    images = {
        group["InstanceGroupName"]: group.get("CurrentImageReleaseVersion")
        for group in cluster.description.get("InstanceGroups") or ()
    }
    for node in nodes:
        place = f"node {node['InstanceId']} ({node['InstanceGroupName']})"
        expected, image = images.get(node["InstanceGroupName"]), node.get("CurrentImageReleaseVersion")
        if expected and image and image != expected:
            yield Difference(place, "image", expected, image, SOFTWARE)
        report = states.get(node["InstanceId"])
        if bundle and report and report.text("sha256") != bundle:
            yield Difference(place, "script bundle", bundle, report.text("sha256") or None, ROLLOUT)


def _node_counts(cluster: Cluster, nodes: list[dict[str, Any]]) -> Iterator[Difference]:
    for group in cluster.groups:
        states = [node["InstanceStatus"]["Status"] for node in nodes if node["InstanceGroupName"] == group.name]
        running, listed = states.count("Running"), len(states) - states.count("ShuttingDown")
        is_moving = any(state in MOVING for state in states)
        if listed > group.target:
            yield Difference(f"group {group.name}", "listed nodes", group.target, listed, IN_MOVE if is_moving else SURPLUS)
        if running < group.target:
            yield Difference(f"group {group.name}", "running nodes", group.target, running, IN_MOVE if is_moving else MISSING)
