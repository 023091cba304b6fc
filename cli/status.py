"""`./hpod status CLUSTER`: the stacks, the groups and the nodes."""

from typing import Any

from cli.deployment import Deployment, Stack
from cli.failures import failures
from cli.progress import progress
from cli.result import Block, Json, Result, Table
from cli.rollback import STUCK, rollback_fix
from config.model import ClusterConfig


def status(deployment: Deployment) -> Result:
    """Return the state of everything that a cluster file describes."""
    stacks = deployment.stacks()
    failed = {stack.name: found for stack in stacks if (found := failures(deployment, stack))}
    stuck = [rollback_fix(deployment, stack) for stack in stacks if stack.status == STUCK]
    running = progress(deployment) if _is_busy(stacks) else []
    data: Json = {
        "stacks": [{"name": stack.name, "status": stack.status, "reason": stack.reason or None} for stack in stacks],
        "failures": failed,
        "progress": running,
        "cluster": None,
    }
    blocks: list[Block] = [
        Table(("STACK", "STATUS"), [(stack.name, stack.status) for stack in stacks]),
        *(f"why {name} failed:\n{chr(10).join(found)}" for name, found in failed.items()),
        *stuck,
        *running,
    ]
    if len(blocks) > 1 and not any("ClusterName" in stack.outputs for stack in stacks):
        return Result(data, blocks)
    cluster = _cluster(deployment)
    failure = f"\n{cluster['failure_message']}" if cluster["failure_message"] else ""
    return Result(
        {**data, "cluster": cluster}, [f"cluster {cluster['name']} is {cluster['status']}{failure}", *blocks, *_tables(cluster)]
    )


def _is_busy(stacks: list[Stack]) -> bool:
    return any(stack.name.endswith("-Cluster") and stack.status.endswith("_IN_PROGRESS") for stack in stacks)


def _cluster(deployment: Deployment) -> Json:
    cluster = deployment.cluster()
    return {
        "name": cluster["ClusterName"],
        "arn": cluster.get("ClusterArn"),
        "status": cluster["ClusterStatus"],
        "failure_message": cluster.get("FailureMessage") or None,
        "groups": [_group(group, deployment.config) for group in cluster["InstanceGroups"]],
        "nodes": [_node(node) for node in deployment.nodes(cluster["ClusterName"])],
    }


def _group(group: dict[str, Any], config: ClusterConfig) -> Json:
    roles = {known.name: known.role.value for known in config.instance_groups if known.role}
    return {
        "name": group["InstanceGroupName"],
        "role": roles.get(group["InstanceGroupName"]),
        "instance_type": group.get("InstanceType"),
        "current_count": group["CurrentCount"],
        "target_count": group["TargetCount"],
        "status": group["Status"],
    }


def _node(node: dict[str, Any]) -> Json:
    state = node["InstanceStatus"]
    return {
        "instance_id": node["InstanceId"],
        "group": node["InstanceGroupName"],
        "status": state["Status"],
        "message": state.get("Message") or None,
    }


def _tables(cluster: Json) -> list[Table]:
    groups = [
        (
            group["name"],
            group["role"] or "not in the file",
            group["instance_type"] or "",
            f"{group['current_count']} of {group['target_count']}",
            group["status"],
        )
        for group in cluster["groups"]
    ]
    nodes = [
        (node["instance_id"], node["group"], f"{node['status']}: {node['message']}" if node["message"] else node["status"])
        for node in cluster["nodes"]
    ]
    return [
        Table(("GROUP", "ROLE", "INSTANCE TYPE", "NODES", "STATUS"), groups),
        Table(("NODE", "GROUP", "STATUS"), nodes),
    ]
