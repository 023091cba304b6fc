"""The reasons why a stack's last operation failed, from CloudFormation's events."""

from collections.abc import Iterator
from typing import Any

from cli.deployment import Deployment, Stack
from cli.pages import listed

BEGINNINGS = ("CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS", "DELETE_IN_PROGRESS", "IMPORT_IN_PROGRESS")
FOLLOWS = "cancelled"
"""What CloudFormation says of a resource that it gave up only because another one had failed."""


def failures(deployment: Deployment, stack: Stack) -> list[str]:
    """Return the failures of the stack's last operation, oldest first; empty if it succeeded or is still running."""
    if not stack.status.endswith(("_FAILED", "ROLLBACK_COMPLETE")):
        return []
    failed = [event for event in _last_operation(deployment, stack) if event["ResourceStatus"].endswith("_FAILED")]
    reported = [event for event in failed if FOLLOWS not in event.get("ResourceStatusReason", FOLLOWS)]
    lines = (
        f"{each['LogicalResourceId']} {each['ResourceStatus']}: {each['ResourceStatusReason']}" for each in reversed(reported)
    )
    return list(dict.fromkeys(lines))


def _last_operation(deployment: Deployment, stack: Stack) -> Iterator[dict[str, Any]]:
    """Yield the events of the last operation, newest first."""
    for event in listed(deployment.client("cloudformation"), "describe_stack_events", "StackEvents", StackName=stack.name):
        yield event
        if event["LogicalResourceId"] == stack.name and event["ResourceStatus"] in BEGINNINGS:
            return
