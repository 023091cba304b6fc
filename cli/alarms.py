"""The CloudWatch alarms of a deployment."""

from collections.abc import Iterator
from typing import Any

from cli.deployment import Deployment
from cli.pages import listed
from config.operation_names import alarm_names

NEVER_EVALUATED = "Unchecked: Initial alarm creation"
"""The reason of a new alarm's state, which stays until the state changes."""


def alarms(deployment: Deployment) -> Iterator[dict[str, Any]]:
    """Return the alarms of the deployment's stacks."""
    names = alarm_names(deployment.config.name)
    return listed(deployment.client("cloudwatch"), "describe_alarms", "MetricAlarms", AlarmNames=names)


def raised(deployment: Deployment) -> list[dict[str, Any]]:
    """Return the alarms that notified of their state: ALARM, or INSUFFICIENT_DATA after another state, without reports."""
    return [each for each in alarms(deployment) if _is_raised(each)]


def _is_raised(alarm: dict[str, Any]) -> bool:
    state = alarm["StateValue"]
    if state == "INSUFFICIENT_DATA":
        return bool(alarm.get("InsufficientDataActions")) and alarm.get("StateReason") != NEVER_EVALUATED
    return bool(state == "ALARM")
