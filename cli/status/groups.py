"""The cluster and its instance groups, as DescribeCluster shows them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from cli.group_members import groups_of
from cli.result import Json, Table
from cli.status.nodes import ListedNode
from config.model import ClusterConfig, Orchestrator


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


def groups_table(groups: Sequence[Json], nodes: Sequence[ListedNode], config: ClusterConfig) -> Table:
    """Return the table of the groups, with the nodes that do not run; groups of an EKS cluster have no roles."""
    states = {group["name"]: Counter(node.status for node in nodes if node.group == group["name"]) for group in groups}
    if config.orchestrator is Orchestrator.SLURM:
        return Table(("GROUP", "ROLE", "INSTANCE TYPE", "NODES", "STATUS"), [_row(group, states) for group in groups])
    rows = [_row(group, states) for group in groups]
    return Table(("GROUP", "INSTANCE TYPE", "NODES", "STATUS"), [(row[0], *row[2:]) for row in rows])


def _row(group: Json, states: Mapping[str, Counter[str]]) -> tuple[str, ...]:
    others = [f", {count} {state}" for state, count in sorted(states[group["name"]].items()) if state != "Running"]
    return (
        group["name"],
        group["role"] or "not in the file",
        group["instance_type"] or "",
        f"{group['current_count']} of {group['target_count']}{''.join(others)}",
        group["status"],
    )
