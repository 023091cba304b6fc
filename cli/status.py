"""`./hpod status CLUSTER`: the stacks, the groups and the nodes at a glance."""

from typing import Any

from cli.deployment import Deployment, Stack
from cli.failures import failures
from cli.progress import progress
from cli.rollback import STUCK, remedy
from cli.table import table
from config.model import ClusterConfig


def status(deployment: Deployment) -> str:
    """The state of everything that a cluster file stands for."""
    stacks = deployment.stacks()
    shown = [table(("STACK", "STATUS"), [(stack.name, stack.status) for stack in stacks]), *_unfinished(deployment, stacks)]
    if len(shown) > 1 and not any("ClusterName" in stack.outputs for stack in stacks):
        return "\n\n".join(shown)
    cluster = deployment.cluster()
    nodes = deployment.nodes(cluster["ClusterName"])
    failure = f"\n{cluster['FailureMessage']}" if cluster.get("FailureMessage") else ""
    return "\n\n".join(
        [
            f"cluster {cluster['ClusterName']} is {cluster['ClusterStatus']}{failure}",
            *shown,
            table(
                ("GROUP", "ROLE", "INSTANCE TYPE", "NODES", "STATUS"),
                [_group(group, deployment.config) for group in cluster["InstanceGroups"]],
            ),
            table(("NODE", "GROUP", "STATUS"), [(node["InstanceId"], node["InstanceGroupName"], _state(node)) for node in nodes]),
        ]
    )


def _unfinished(deployment: Deployment, stacks: list[Stack]) -> list[str]:
    """What is under way, and what to do where nothing goes on by itself."""
    failed = [f"why {stack.name} failed:\n{chr(10).join(told)}" for stack in stacks if (told := failures(deployment, stack))]
    stuck = [remedy(deployment, stack) for stack in stacks if stack.status == STUCK]
    is_busy = any(stack.name.endswith("-Cluster") and stack.status.endswith("_IN_PROGRESS") for stack in stacks)
    return [*failed, *stuck, *(progress(deployment) if is_busy else [])]


def _group(group: dict[str, Any], config: ClusterConfig) -> tuple[str, ...]:
    roles = {known.name: known.role.value for known in config.instance_groups}
    name = group["InstanceGroupName"]
    ready = f"{group['CurrentCount']} of {group['TargetCount']}"
    return name, roles.get(name, "not in the file"), group.get("InstanceType", ""), ready, group["Status"]


def _state(node: dict[str, Any]) -> str:
    state = node["InstanceStatus"]
    return f"{state['Status']}: {state['Message']}" if state.get("Message") else str(state["Status"])
