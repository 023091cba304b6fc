"""The cluster and its instance groups, as DescribeCluster shows them."""

from typing import Any

from cli.group_members import groups_of
from cli.result import Json
from config.model import ClusterConfig


def cluster_data(cluster: dict[str, Any], config: ClusterConfig) -> Json:
    """Return the fields of the cluster for JSON."""
    return {
        "cluster": cluster["ClusterName"],
        "arn": cluster.get("ClusterArn"),
        "status": cluster["ClusterStatus"],
        "message": cluster.get("FailureMessage") or None,
        "groups": [_group(group, config) for group in groups_of(cluster)],
    }


def _group(group: dict[str, Any], config: ClusterConfig) -> Json:
    roles = config.role_names()
    return {
        "name": group["InstanceGroupName"],
        "role": roles.get(group["InstanceGroupName"]),
        "instance_type": group.get("InstanceType"),
        "current_count": group["CurrentCount"],
        "target_count": group["TargetCount"],
        "status": group["Status"],
        "image_release": group.get("CurrentImageReleaseVersion"),
        "image_status": group.get("ImageVersionStatus"),
        "software_update": group.get("SoftwareUpdateStatus"),
    }


def group_row(group: Json) -> tuple[str, ...]:
    """Return the group as a row of the table."""
    return (
        group["name"],
        group["role"] or "not in the file",
        group["instance_type"] or "",
        f"{group['current_count']} of {group['target_count']}",
        group["status"],
    )
