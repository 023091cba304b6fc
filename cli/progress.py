"""Progress of the custom resource, from the step function's log while CloudFormation waits."""

import json
from datetime import datetime, timedelta
from typing import Any

from cli.deployment import Deployment

CLOCKS_DIFFER = timedelta(minutes=1)
LOG_GROUP = "ProviderStepAccessLogGroup"
"""What the logical id of the step function's log group holds; constructs/hyperpod/cluster/resource_function.py names it."""


def progress(deployment: Deployment) -> list[str]:
    """Return a line for each running request: status, ready nodes, elapsed time and the reason for waiting."""
    resources = deployment.resources("Cluster")
    ours = (each for each in resources if each["ResourceType"].startswith("Custom::"))
    running = [each for each in ours if each["ResourceStatus"].endswith("_IN_PROGRESS")]
    groups = [each["PhysicalResourceId"] for each in resources if LOG_GROUP in each["LogicalResourceId"]]
    if not running or not groups:
        return []
    since = min(each["Timestamp"] for each in running) - CLOCKS_DIFFER
    return list(_last_lines(deployment.client("logs"), groups[0], since).values())


def _last_lines(client: Any, group: str, since: datetime) -> dict[str, str]:
    """Return the last line of each request."""
    pages = client.get_paginator("filter_log_events").paginate(logGroupName=group, startTime=int(since.timestamp() * 1000))
    found: dict[str, str] = {}
    for page in pages:
        for event in page["events"]:
            line = _parsed(event["message"])
            if line.get("message") == "step":
                found[line["request"]] = _told(line)
    return found


def _parsed(text: str) -> dict[str, Any]:
    """Return our log line; Lambda's own lines are not JSON."""
    try:
        line = json.loads(text)
    except ValueError:
        return {}
    return line if isinstance(line, dict) else {}


def _told(line: dict[str, Any]) -> str:
    minutes, seconds = divmod(int(line["elapsed_s"]), 60)
    note = f"; {line['note']}" if line.get("note") and line["note"] != line["nodes"] else ""
    nodes = f", nodes: {line['nodes']}" if line["nodes"] else ""
    return f"{line['request']}: {line['status']}{nodes}, {minutes} min {seconds} s{note}"
