"""A function's log in CloudWatch Logs, written with the rights of the function's role."""

import time
from typing import Any

from moto.logs.models import logs_backends

from local_aws import iam


def write(function: Any, stream: str, text: str) -> None:
    """Write the log to the function's group; as on AWS it is lost if the role may not write or the group is missing."""
    logs = logs_backends[function.account_id][function.region]
    group = function.logs_group_name
    if group not in logs.groups:
        # The service creates a missing group if the function's role allows it, which is how deleted groups come back.
        if not _may(function, "logs:CreateLogGroup", group, ""):
            return
        logs.create_log_group(group, {})
    if stream not in logs.groups[group].streams:
        if not _may(function, "logs:CreateLogStream", group, stream):
            return
        logs.create_log_stream(group, stream)
    if _may(function, "logs:PutLogEvents", group, stream):
        now = int(time.time() * 1000)
        logs.put_log_events(group, stream, [{"timestamp": now, "message": line} for line in text.splitlines() if line])


def _may(function: Any, action: str, group: str, stream: str) -> bool:
    arn = f"arn:aws:logs:{function.region}:{function.account_id}:log-group:{group}:log-stream:{stream}"
    return iam.role_allows(function.account_id, function.role, action, arn, {"aws:RequestedRegion": function.region})
