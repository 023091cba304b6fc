"""Differences between the desired and the observed nodes: counts, images and bundles."""

from collections.abc import Iterator, Mapping
from typing import Any

from cli.drift.difference import Difference
from cli.node_reports import Report
from cli.resource_code import Cluster

ROLLOUT = "a deployment with `lifecycle.follow: live` updates the node; else replace the node"
SOFTWARE = "no deployment updates images; run `aws sagemaker update-cluster-software`"
MISSING = "no deployment is needed: HyperPod launches missing nodes; read `./hpod events`"


def node_differences(
    cluster: Cluster, nodes: list[dict[str, Any]], states: Mapping[str, Report], bundle: str
) -> Iterator[Difference]:
    """Yield missing nodes, nodes with another image than their group, and nodes with another bundle than the deployment's."""
    yield from _missing(cluster, nodes)
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


def _missing(cluster: Cluster, nodes: list[dict[str, Any]]) -> Iterator[Difference]:
    for group in cluster.groups:
        running = sum(node["InstanceGroupName"] == group.name and node["InstanceStatus"]["Status"] == "Running" for node in nodes)
        if running < group.target:
            yield Difference(f"group {group.name}", "running nodes", group.target, running, MISSING)
