"""MoveClusterNodes: running nodes leave their group for another one, also of another cluster, with their ids and addresses.

The counts of both groups change when a node is handed over; that and the errors' texts are not public. ClientToken is ignored.
"""

from functools import partial

from local_aws.durations import duration
from local_aws.errors import AwsError
from local_aws.hyperpod.authorization import cluster_named
from local_aws.hyperpod.changes import listener
from local_aws.hyperpod.checks import invalid
from local_aws.hyperpod.model import Cluster, Group, Node, instance_type, lock
from local_aws.hyperpod.starting import boot, free_numbers, runner
from local_aws.json_service import Call, Json, Operation
from local_aws.schedule import schedule


def move_cluster_nodes(call: Call) -> Json:
    """Move the nodes that can be moved; without one the call fails."""
    (old, source), (new, target) = (_side(call, which) for which in ("Source", "Target"))
    count, members = call.request.get("InstanceCount", 0), {node.id: node for node in old.nodes_of(source.name)}
    movable = [each for each, node in members.items() if node.status == "Running" and node.type == instance_type(target.spec)]
    asked = call.request.get("NodeIds") or movable[:count]
    nodes = [members[each] for each in asked if each in movable and source is not target]
    if not nodes or len(nodes) < count or source.target - len(nodes) < source.spec.get("MinInstanceCount", 0):
        raise invalid(f"{source.name} has not enough nodes that can be moved to {target.name}")
    for node in nodes:
        node.status = "DetachInProgress"
        schedule.after(duration("hyperpod.node.shut_down"), partial(_hand_over, node, old, new, target))
    failed = [_failure(each, members.get(each)) for each in asked if each not in movable]
    return {"Successful": [node.id for node in nodes], "Failed": failed}


def _side(call: Call, which: str) -> tuple[Cluster, Group]:
    cluster = cluster_named(call, call.request[f"{which}ClusterArn"])
    group = cluster.groups.get(call.request[f"{which}InstanceGroupName"])
    if group is None:
        raise AwsError("ResourceNotFound", f"cluster {cluster.name} has no such instance group")
    if not (cluster.status == "InService" and cluster.eks_arn and cluster.continuous and cluster.change is None):
        raise invalid(f"cluster {cluster.name} must be InService, with EKS and NodeProvisioningMode Continuous")
    return cluster, group


def _failure(node_id: str, node: Node | None) -> Json:
    code = "NodeIdNotFound" if node is None else "InvalidNodeStatus" if node.status != "Running" else "NodeInstanceTypeMismatch"
    return {"NodeId": node_id, "Code": code, "Message": f"node {node_id} cannot be moved"}


def _hand_over(node: Node, old: Cluster, new: Cluster, target: Group) -> None:
    with lock:
        if node not in old.nodes or node.status != "DetachInProgress":
            return
        runner().stop(node.id)
        old.nodes.remove(node)
        old.groups[node.group].spec["InstanceCount"] -= 1
        group = new.groups.get(target.name, target)
        group.spec["InstanceCount"] += 1
        node.spec, node.status, node.number = dict(group.spec), "AttachInProgress", free_numbers(new, group)[0]
        new.nodes.append(node)
        boot(new, [node], listener(new))


OPERATIONS: dict[str, Operation] = {"MoveClusterNodes": move_cluster_nodes}
