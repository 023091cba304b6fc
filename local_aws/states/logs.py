"""The logs of executions, in the group that the state machine's LoggingConfiguration names."""

import json
import time
from dataclasses import dataclass
from typing import Any

from moto.logs.models import logs_backends
from moto.stepfunctions.parser.asl.eval.event.logging import CloudWatchLoggingConfiguration, is_logging_enabled_for

from local_aws import iam
from local_aws.errors import AwsError

# The permissions (on every resource) that AWS requires of the machine's role for a log group.
# https://docs.aws.amazon.com/step-functions/latest/dg/cw-logs.html
_DELIVERY = (
    "logs:CreateLogDelivery",
    "logs:GetLogDelivery",
    "logs:UpdateLogDelivery",
    "logs:DeleteLogDelivery",
    "logs:ListLogDeliveries",
    "logs:PutResourcePolicy",
    "logs:DescribeResourcePolicies",
    "logs:DescribeLogGroups",
)


@dataclass(frozen=True)
class Session:
    """An execution's log; it replaces moto's, whose events CloudWatch Logs refuses."""

    execution_arn: str
    configuration: Any

    def log_level_filter(self, history_event_type: Any) -> bool:
        """Return whether events of this type are logged at the configured level."""
        return bool(is_logging_enabled_for(self.configuration.log_level, history_event_type))

    def publish_history_log(self, history_log: dict[str, Any]) -> None:
        """Write an event; as on AWS it is lost if the group is gone."""
        where = self.configuration
        logs = logs_backends[where.log_account_id][where.log_region]
        if where.log_group_name not in logs.groups:
            return
        if where.log_stream_name not in logs.groups[where.log_group_name].streams:
            logs.create_log_stream(where.log_group_name, where.log_stream_name)
        event = {"timestamp": int(time.time() * 1000), "message": json.dumps(history_log, default=str)}
        logs.put_log_events(where.log_group_name, where.log_stream_name, [event])


def session(execution_arn: str, machine: Any) -> Session | None:
    """Return the log of an execution of ``machine``; None if the machine does not log."""
    found = CloudWatchLoggingConfiguration.from_logging_configuration(machine.arn, machine.loggingConfiguration or {})
    return Session(execution_arn, found) if found else None


def require_delivery(account: str, role_arn: str, configuration: dict[str, Any] | None) -> None:
    """Refuse a log destination that the machine's role may not use."""
    if not configuration or configuration.get("level", "OFF") == "OFF":
        return
    if not all(iam.role_allows(account, role_arn, action, "*") for action in _DELIVERY):
        message = "The state machine IAM Role is not authorized to access the Log Destination"
        raise AwsError("AccessDeniedException", message)
