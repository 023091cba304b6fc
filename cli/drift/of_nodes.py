"""Differences between the desired and the observed nodes: counts, images and bundles."""

from collections.abc import Iterator, Mapping
from typing import Any

from cli.drift.difference import Difference
from cli.node_reports import Report
from cli.resource_code import Cluster

ROLLOUT = "a deployment with `lifecycle.follow: live` updates the node; else replace the node"
SOFTWARE = "no deployment updates images; run `aws sagemaker update-cluster-software`"
MISSING = "no deployment is needed: HyperPod launches missing nodes; read `./hpod events`"


SURPLUS = "no deployment removes it; if HyperPod does not either, run `./hpod delete`"


def node_differences(
    cluster: Cluster, nodes: list[dict[str, Any]], states: Mapping[str, Report], bundle: str
) -> Iterator[Difference]:
    """Yield missing and surplus nodes, and nodes with another image than their group or another bundle than the deployment."""
    yield from _counts(cluster, nodes)
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


def _counts(cluster: Cluster, nodes: list[dict[str, Any]]) -> Iterator[Difference]:
    for group in cluster.groups:
        states = [node["InstanceStatus"]["Status"] for node in nodes if node["InstanceGroupName"] == group.name]
        running, listed = states.count("Running"), len(states) - states.count("ShuttingDown")
        if listed > group.target:
            yield Difference(f"group {group.name}", "listed nodes", group.target, listed, SURPLUS)
        if running < group.target:
            yield Difference(f"group {group.name}", "running nodes", group.target, running, MISSING)
