"""Operations on nodes: list, describe, delete, replace, reboot."""

from collections.abc import Callable
from typing import TypeAlias

from local_aws.errors import AwsError
from local_aws.hyperpod import recovery
from local_aws.hyperpod.authorization import named_cluster
from local_aws.hyperpod.changes import begin_update
from local_aws.hyperpod.cluster_operations import is_in_time
from local_aws.hyperpod.descriptions import node_details, node_summary
from local_aws.hyperpod.model import Cluster, Group, Node, is_under_check
from local_aws.hyperpod.removal import shut_down
from local_aws.json_service import Call, Json, Operation, page

Chosen: TypeAlias = tuple[list[Node], list[tuple[str, str]]]


def list_cluster_nodes(call: Call) -> Json:
    """Return the nodes that match the call's filters, in pages."""
    cluster, request = named_cluster(call), call.request
    group = request.get("InstanceGroupNameContains", "")
    found = [
        node for node in cluster.nodes if group in node.group and is_in_time(call.time(node.launched), request, "CreationTime")
    ]
    by_name = request.get("SortBy") == "NAME"
    found.sort(key=lambda node: node.id if by_name else node.launched.isoformat())
    if request.get("SortOrder") == "Descending":
        found.reverse()
    shown, token = page(call, found)
    return {"ClusterNodeSummaries": [node_summary(cluster, node) for node in shown], **token}


def describe_cluster_node(call: Call) -> Json:
    """Return the current state of a node."""
    cluster, node_id = named_cluster(call), call.request.get("NodeId", "")
    node = cluster.node(node_id)
    if node is None:
        raise AwsError("ResourceNotFound", f"Node {node_id} not found in cluster {cluster.name}.")
    return {"NodeDetails": node_details(cluster, node)}


def batch_delete_cluster_nodes(call: Call) -> Json:
    """Remove nodes from their groups, whose counts shrink.

    AWS requires UpdateClusterSoftware once on clusters older than this operation; this does not.
    """
    cluster = named_cluster(call)
    nodes, refused = _choose(call, cluster)
    _refuse_controllers(nodes, "removed")
    names = {"not found": "NodeIdNotFound", "busy": "NodeIdInUse", "status": "InvalidNodeStatus"}
    if nodes:
        groups = {name: Group(dict(group.spec), group.status) for name, group in cluster.groups.items()}
        for node in nodes:
            groups[node.group].spec["InstanceCount"] -= 1
        shut_down(cluster, nodes)
        begin_update(cluster, groups, None)
    failed = [{"Code": names[why], "Message": _message(node_id, why), "NodeId": node_id} for node_id, why in refused]
    return {"Successful": [node.id for node in nodes], "Failed": failed}


def batch_replace_cluster_nodes(call: Call) -> Json:
    """Replace nodes with new ones."""

    def replace(cluster: Cluster, nodes: list[Node]) -> None:
        _refuse_controllers(nodes, "replaced")
        recovery.replace(cluster, nodes)

    return _batch(call, replace)


def batch_reboot_cluster_nodes(call: Call) -> Json:
    """Reboot nodes; their lifecycle scripts do not run again."""
    return _batch(call, recovery.reboot)


def _batch(call: Call, act: Callable[[Cluster, list[Node]], None]) -> Json:
    cluster = named_cluster(call)
    nodes, refused = _choose(call, cluster)
    names = {"not found": "InstanceIdNotFound", "busy": "InstanceIdInUse", "status": "InvalidInstanceStatus"}
    if nodes:
        act(cluster, nodes)
    failed = [{"ErrorCode": names[why], "Message": _message(node_id, why), "NodeId": node_id} for node_id, why in refused]
    return {"Successful": [node.id for node in nodes], "Failed": failed}


def _refuse_controllers(nodes: list[Node], done: str) -> None:
    """Refuse calls about Slurm controllers, as the API reference documents; the error is not published.

    Without SlurmConfig, HyperPod may not know the controllers, and this does not.
    """
    for node in nodes:
        if (node.spec.get("SlurmConfig") or {}).get("NodeType") == "Controller":
            raise AwsError("ValidationException", f"Node {node.id} is a Slurm controller node and cannot be {done}.")


def _choose(call: Call, cluster: Cluster) -> Chosen:
    """Return the nodes of the call that are available now, and the others with the reason."""
    nodes: list[Node] = []
    refused: list[tuple[str, str]] = []
    if "NodeLogicalIds" in call.request:
        raise AwsError("ValidationException", "NodeLogicalIds is not part of the embedded AWS")
    for node_id in call.request.get("NodeIds") or []:
        node = cluster.node(node_id)
        if node is None:
            refused.append((node_id, "not found"))
        elif cluster.status != "InService" or is_under_check(cluster):
            refused.append((node_id, "busy"))
        elif node.status not in ("Running", "Failure"):
            refused.append((node_id, "status"))
        else:
            nodes.append(node)
    return nodes, refused


def _message(node_id: str, why: str) -> str:
    texts = {"not found": "does not exist in the cluster", "busy": "is in use", "status": "is neither Running nor failed"}
    return f"Node {node_id} {texts[why]}."


OPERATIONS: dict[str, Operation] = {
    "ListClusterNodes": list_cluster_nodes,
    "DescribeClusterNode": describe_cluster_node,
    "BatchDeleteClusterNodes": batch_delete_cluster_nodes,
    "BatchReplaceClusterNodes": batch_replace_cluster_nodes,
    "BatchRebootClusterNodes": batch_reboot_cluster_nodes,
}
