"""Calls of the operations that replace, reboot and delete nodes, in batches as the API allows."""

from collections.abc import Iterator, Sequence
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from cli.aws_errors import explained
from cli.node_actions.site import Site
from cli.node_directory import Node
from config.instance_group import Role

LIMIT = 25
OF_AWS = (ClientError, BotoCoreError)
"""Errors of AWS, such as credentials that expire during a wait."""
OPERATIONS = {
    "replace": "batch_replace_cluster_nodes",
    "reboot": "batch_reboot_cluster_nodes",
    "delete": "batch_delete_cluster_nodes",
}


def batches(nodes: Sequence[Node]) -> Iterator[Sequence[Node]]:
    """Yield the nodes in batches, group by group, and controllers in batches of their own, last: the others need them."""
    ordered = sorted(nodes, key=lambda node: node.group)
    others = [node for node in ordered if node.role != Role.CONTROLLER]
    for part in (others, [node for node in ordered if node.role == Role.CONTROLLER]):
        for start in range(0, len(part), LIMIT):
            yield part[start : start + LIMIT]


def call(site: Site, action: str, nodes: Sequence[Node]) -> dict[str, str]:
    """Start the action on a batch, and return the problem of each node that HyperPod refuses, by instance id."""
    operation = getattr(site.sagemaker, OPERATIONS[action])
    try:
        answer: dict[str, Any] = operation(ClusterName=site.cluster, NodeIds=[node.instance for node in nodes])
    except ClientError as error:
        # Not raised: the nodes are drained by now, and the result names the command that resumes them.
        reason = error.response["Error"]
        return dict.fromkeys((node.instance for node in nodes), f"refused: {reason['Code']}: {reason['Message']}")
    failed = answer.get("Failed") or []
    return {each["NodeId"]: f"{each.get('ErrorCode') or each.get('Code')}: {each['Message']}" for each in failed}


def problem_of(action: str, error: Exception) -> str:
    """Return the problem of the nodes of a batch that an error ended."""
    return str(explained(action, error) if isinstance(error, OF_AWS) else error)
