"""The CloudWatch alarms of a deployment."""

from collections.abc import Iterator
from typing import Any

from cli.deployment import Deployment
from config.operation_names import alarm_names


def alarms(deployment: Deployment) -> Iterator[dict[str, Any]]:
    """Yield the alarms of the deployment's stacks."""
    names = alarm_names(deployment.config.name)
    for page in deployment.client("cloudwatch").get_paginator("describe_alarms").paginate(AlarmNames=names):
        yield from page["MetricAlarms"]


def raised(deployment: Deployment) -> list[dict[str, Any]]:
    """Return the alarms that notify in the state that they have: ALARM, or INSUFFICIENT_DATA without reports."""
    return [each for each in alarms(deployment) if _is_raised(each)]


def _is_raised(alarm: dict[str, Any]) -> bool:
    state = alarm["StateValue"]
    return state == "ALARM" or (state == "INSUFFICIENT_DATA" and bool(alarm.get("InsufficientDataActions")))
