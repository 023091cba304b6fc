"""MoveClusterNodes: running nodes leave their group for another one, also of another cluster, with their ids and addresses.

The counts of both groups change when a node is handed over; that and the errors' texts are not public. ClientToken is ignored.
"""

from functools import partial

from local_aws.durations import duration
from local_aws.errors import AwsError
from local_aws.hyperpod.authorization import cluster_named
from local_aws.hyperpod.changes import attach
from local_aws.hyperpod.checks import invalid
from local_aws.hyperpod.model import Cluster, Group, Node, instance_type, lock
from local_aws.hyperpod.starting import free_numbers, runner
from local_aws.json_service import Call, Json, Operation
from local_aws.schedule import schedule


def move_cluster_nodes(call: Call) -> Json:
    """Move the nodes that can be moved; without one the call fails."""
    source, target = (_side(call, which) for which in ("Source", "Target"))
    if source == target:
        raise invalid("the source and the target are the same instance group")
    cluster, group = source
    failed: list[Json] = []
    nodes = [node for node in cluster.nodes_of(group.name) if node.status == "Running" and _fits(node, target[1])]
    nodes = nodes[: call.request.get("InstanceCount", len(nodes))]
    if "NodeIds" in call.request:
        by_id = {node.id: node for node in nodes}
        failed = [_failure(source, each) for each in call.request["NodeIds"] if each not in by_id]
        nodes = [by_id[each] for each in call.request["NodeIds"] if each in by_id]
    elif "InstanceCount" not in call.request:
        raise invalid("the embedded AWS moves nodes by NodeIds or InstanceCount")
    if not nodes or len(nodes) < call.request.get("InstanceCount", 0):
        raise invalid(f"not enough nodes of {group.name} can be moved")
    if group.target - len(nodes) < group.spec.get("MinInstanceCount", 0):
        raise invalid(f"{group.name} would have fewer nodes than its MinInstanceCount")
    for node in nodes:
        node.status = "DetachInProgress"
        schedule.after(duration("hyperpod.node.shut_down"), partial(_hand_over, node, source, target))
    return {"Successful": [node.id for node in nodes], "Failed": failed}


def _side(call: Call, which: str) -> tuple[Cluster, Group]:
    cluster = cluster_named(call, call.request[f"{which}ClusterArn"])
    group = cluster.groups.get(call.request[f"{which}InstanceGroupName"])
    if group is None:
        raise AwsError("ResourceNotFound", f"cluster {cluster.name} has no such instance group")
    if not (cluster.status == "InService" and cluster.eks_arn and cluster.continuous and cluster.change is None):
        raise invalid(f"cluster {cluster.name} must be InService, with EKS and NodeProvisioningMode Continuous")
    return cluster, group


def _fits(node: Node, group: Group) -> bool:
    return node.type == instance_type(group.spec)


def _failure(source: tuple[Cluster, Group], node_id: str) -> Json:
    cluster, group = source
    node = next((node for node in cluster.nodes_of(group.name) if node.id == node_id), None)
    code = "NodeIdNotFound" if node is None else "InvalidNodeStatus" if node.status != "Running" else "NodeInstanceTypeMismatch"
    return {"NodeId": node_id, "Code": code, "Message": f"node {node_id} of {group.name} cannot be moved"}


def _hand_over(node: Node, source: tuple[Cluster, Group], target: tuple[Cluster, Group]) -> None:
    with lock:
        (old, _), (new, group) = source, target
        if node not in old.nodes or node.status != "DetachInProgress":
            return
        runner().stop(node.id)
        old.nodes.remove(node)
        old.groups[node.group].spec["InstanceCount"] -= 1
        group = new.groups.get(group.name, group)
        group.spec["InstanceCount"] += 1
        node.spec, node.status, node.number = dict(group.spec), "AttachInProgress", free_numbers(new, group)[0]
        new.nodes.append(node)
        attach(new, node)


OPERATIONS: dict[str, Operation] = {"MoveClusterNodes": move_cluster_nodes}
