"""The operations of stacks: why the last one failed, and the progress of custom resources while CloudFormation waits."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from cli.deployment import Deployment, Stack
from cli.node_reports import json_object, log_lines

BEGINNINGS = ("CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS", "DELETE_IN_PROGRESS", "IMPORT_IN_PROGRESS")
FOLLOWS = "cancelled"
"""What CloudFormation says of a resource that it gave up only because another one had failed."""
CLOCKS_DIFFER = timedelta(minutes=1)
LOG_GROUP = "ProviderStepAccessLogGroup"
"""What the logical id of the step function's log group holds; constructs/hyperpod/cluster/resource_function.py names it."""


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
    for event in deployment.all("cloudformation", "describe_stack_events", "StackEvents", StackName=stack.name):
        yield event
        if event["LogicalResourceId"] == stack.name and event["ResourceStatus"] in BEGINNINGS:
            return


def progress(deployment: Deployment, stack: str = "Cluster") -> list[str]:
    """Return a line for each running request: status, ready nodes, elapsed time and the reason for waiting."""
    resources = deployment.resources(stack)
    ours = (each for each in resources if each["ResourceType"].startswith("Custom::"))
    running = [each for each in ours if each["ResourceStatus"].endswith("_IN_PROGRESS")]
    groups = [each["PhysicalResourceId"] for each in resources if LOG_GROUP in each["LogicalResourceId"]]
    if not running or not groups:
        return []
    since = min(each["Timestamp"] for each in running) - CLOCKS_DIFFER
    client = deployment.client("logs")
    return [line for group in groups for line in _last_lines(client, group, since).values()]


def _last_lines(client: Any, group: str, since: datetime) -> dict[str, str]:
    """Return the last line of each request."""
    steps = (json_object(line.message) for line in log_lines(client, group, since))
    return {step["request"]: _line(step) for step in steps if step.get("message") == "step"}


def _line(line: dict[str, Any]) -> str:
    minutes, seconds = divmod(int(line["elapsed_s"]), 60)
    note = f"; {line['note']}" if line.get("note") and line["note"] != line.get("nodes") else ""
    nodes = f", nodes: {line['nodes']}" if line.get("nodes") else ""
    status = line.get("status") or (f"{line['applied']} objects applied" if "applied" in line else "running")
    return f"{line['request']}: {status}{nodes}, {minutes} min {seconds} s{note}"
