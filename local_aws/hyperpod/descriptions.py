"""Clusters, groups and nodes in the form of SageMaker's responses, which differs from that of its requests."""

from typing import Any

from local_aws.clock import host_now
from local_aws.host_names import private_dns_name
from local_aws.hyperpod.model import Cluster, Group, Node
from local_aws.hyperpod.service_behaviour import shown_group, shown_settings
from local_aws.json_service import Json
from local_aws.network_interfaces import find_subnet

# The field of an instance group in a request -> its field in a response.
_GROUP_FIELDS = {
    "InstanceCount": "TargetCount",
    "MinInstanceCount": "MinCount",
    "ImageId": "CurrentImageId",
    "ImageReleaseVersion": "CurrentImageReleaseVersion",
}
_REQUIREMENTS = {"InstanceTypes": ("CurrentInstanceTypes", "DesiredInstanceTypes")}
_NEWEST_IMAGE = "1.0.0"
_KUBERNETES = {"Labels": ("CurrentLabels", "DesiredLabels"), "Taints": ("CurrentTaints", "DesiredTaints")}
_PATCHING = {"PatchSchedule": ("CurrentPatchSchedule", "DesiredPatchSchedule")}
# Structures whose fields are returned twice, as current and desired.
_TWICE = {"InstanceRequirements": _REQUIREMENTS, "KubernetesConfig": _KUBERNETES, "AutoPatchConfig": _PATCHING}


def cluster_details(cluster: Cluster) -> Json:
    """Return the response of DescribeCluster."""
    details: Json = {
        "ClusterArn": cluster.arn,
        "ClusterName": cluster.name,
        "ClusterStatus": cluster.status,
        "CreationTime": cluster.created,
        "InstanceGroups": [_group_details(cluster, group) for group in [*cluster.groups.values(), *_leaving(cluster)]],
        **shown_settings(cluster.settings),
    }
    if "AutoScaling" in details:
        details["AutoScaling"] = {**details["AutoScaling"], "Status": "InService"}
    return {**details, "FailureMessage": cluster.failure} if cluster.failure else details


def cluster_summary(cluster: Cluster) -> Json:
    """Return an entry of ListClusters."""
    return {
        "ClusterArn": cluster.arn,
        "ClusterName": cluster.name,
        "CreationTime": cluster.created,
        "ClusterStatus": cluster.status,
    }


def _leaving(cluster: Cluster) -> list[Group]:
    """Return the groups that an update deletes, while they still have nodes."""
    before = cluster.change.before if cluster.change else {}
    left = {node.group for node in cluster.nodes} - set(cluster.groups)
    return [Group({**before[name].spec, "InstanceCount": 0}, "Deleting") for name in before if name in left]


def _group_details(cluster: Cluster, group: Group) -> Json:
    details: Json = {}
    for name, value in shown_group(group.spec).items():
        details[_GROUP_FIELDS.get(name, name)] = _doubled(_TWICE[name], value) if name in _TWICE else value
    running = [node for node in cluster.nodes_of(group.name) if node.status != "Pending"]
    details |= {"CurrentCount": len(running), "Status": group.status}
    if group.software_status:
        details["SoftwareUpdateStatus"] = group.software_status
    return details


def _doubled(fields: dict[str, tuple[str, str]], value: dict[str, Any]) -> Json:
    return {new: item for name, item in value.items() for new in fields.get(name, (name,))}


def node_summary(cluster: Cluster, node: Node) -> Json:
    """Return an entry of ListClusterNodes."""
    summary: Json = {
        "InstanceGroupName": node.group,
        "InstanceId": node.id,
        "InstanceType": node.type,
        "LaunchTime": node.launched,
        "InstanceStatus": {"Status": node.status, "Message": node.message},
    }
    if node.software_updated:
        summary["LastSoftwareUpdateTime"] = node.software_updated
    return summary | _image(node) | _host_name(cluster, node)


def node_details(cluster: Cluster, node: Node) -> Json:
    """Return the node in the response of DescribeClusterNode."""
    same = ("LifeCycleConfig", "OverrideVpcConfig", "ThreadsPerCore", "InstanceStorageConfigs", "NetworkInterface")
    details = node_summary(cluster, node) | {name: node.spec[name] for name in same if name in node.spec}
    if "ImageId" in node.spec:
        details["CurrentImageId"] = node.spec["ImageId"]
    if node.interfaces:
        details |= {"PrivatePrimaryIp": node.address, "Placement": _placement(cluster, node)}
    spot = "Spot" in node.spec.get("CapacityRequirements", {})
    return details | {"CapacityType": "Spot" if spot else "OnDemand"}


def _image(node: Node) -> Json:
    """Return the release of the HyperPod image; AWS documents neither the newest release nor when one is outdated."""
    if node.spec.get("ImageId", "default") != "default":
        return {}
    return {"CurrentImageReleaseVersion": node.spec.get("ImageReleaseVersion", _NEWEST_IMAGE), "ImageVersionStatus": "UpToDate"}


def _host_name(cluster: Cluster, node: Node) -> Json:
    return {"PrivateDnsHostname": private_dns_name(node.address, cluster.region)} if node.address else {}


def _placement(cluster: Cluster, node: Node) -> Json:
    subnet = find_subnet(cluster.account, cluster.region, node.interfaces[0].subnet_id)
    if subnet is None:
        return {}
    return {"AvailabilityZone": subnet.availability_zone, "AvailabilityZoneId": subnet.availability_zone_id}


def state_change(cluster: Cluster) -> Json:
    """Return the detail of the EventBridge event about the cluster's state, as JSON without datetimes."""
    details = cluster_details(cluster) | {"CreationTime": int(cluster.created.host.timestamp() * 1000)}
    return details | {"Tags": cluster.tags, "LastModifiedTime": int(host_now().timestamp() * 1000)}
