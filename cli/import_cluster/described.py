"""The request that would create a running cluster."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from cli.import_cluster.original import GROUPS, VPC
from cli.resource_code import Cluster, Group
from cluster_request.request import Request
from cluster_request.service_model import input_shape, shape

IMAGES = ("ImageId", "ImageReleaseVersion")


def request_of(cluster: Cluster) -> Request:
    """Return the request that would create this cluster, without members that only DescribeCluster has."""
    groups: Request = {}
    for group in cluster.groups:
        groups.setdefault(group.kind, []).append({**_asked_for(group, cluster), "InstanceCount": group.target})
    network = {VPC: cluster.description[VPC]} if cluster.description.get(VPC) else {}
    tags = [{"Key": key, "Value": value} for key, value in cluster.tags.items()]
    found = {"ClusterName": cluster.name, GROUPS: [], **groups, **network, **cluster.settings, **({"Tags": tags} if tags else {})}
    request: Request = _known(found, input_shape("CreateCluster"))
    return request


def _asked_for(group: Group, cluster: Cluster) -> Request:
    """Return the group's specification without values that the service has set, which would pin them."""
    specification: Request = dict(group.specification)
    for name in _not_pinned(group, cluster):
        specification.pop(name, None)
    if "AutoPatchConfig" in specification and "DesiredPatchSchedule" not in _described(group, cluster)["AutoPatchConfig"]:
        schedule = specification["AutoPatchConfig"]
        specification["AutoPatchConfig"] = {name: value for name, value in schedule.items() if name != "PatchSchedule"}
    return _without_defaults(specification)


def _without_defaults(specification: Request) -> Request:
    """Return the specification without defaults that DescribeCluster may add and that no file has to set."""
    found = {name: value for name, value in specification.items() if (name, value) != ("MinInstanceCount", 0)}
    if "InstanceStorageConfigs" in found:
        found["InstanceStorageConfigs"] = [_without_root_volume(item) for item in found["InstanceStorageConfigs"]]
    return found


def _without_root_volume(item: Request) -> Request:
    """Return a storage configuration without `RootVolume: false`."""
    volume = item.get("EbsVolumeConfig") or {}
    if volume.get("RootVolume", True):
        return item
    return {**item, "EbsVolumeConfig": {name: value for name, value in volume.items() if name != "RootVolume"}}


def _not_pinned(group: Group, cluster: Cluster) -> list[str]:
    """Return the names of images that were not requested: the service chose them, and will choose newer ones."""
    described = _described(group, cluster)
    return [name for name in IMAGES if name in group.specification and f"Desired{name}" not in described]


def _described(group: Group, cluster: Cluster) -> Mapping[str, Any]:
    """Return the group as DescribeCluster returns it."""
    found: Mapping[str, Any] = next(each for each in cluster.description[group.kind] if each["InstanceGroupName"] == group.name)
    return found


def images_note(cluster: Cluster) -> tuple[str, ...]:
    """Return the comments on images that the request leaves out."""
    images = {group.name: [group.specification[name] for name in _not_pinned(group, cluster)] for group in cluster.groups}
    return tuple(f"Not pinned: {name} has the image {', '.join(found)} now." for name, found in images.items() if found)


def _known(value: Any, name: str) -> Any:
    """Return the value without members that the shape does not have, and with times as text."""
    model = shape(name)
    match value:
        case datetime():
            return value.isoformat()
        case Mapping() if model["type"] == "structure":
            members = {key: member["shape"] for key, member in model["members"].items()}
            return {key: _known(value[key], members[key]) for key in value if key in members and value[key] is not None}
        case list() if model["type"] == "list":
            return [_known(item, model["member"]["shape"]) for item in value]
    return value
