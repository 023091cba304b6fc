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
    """Return the alarms that are in ALARM."""
    return [each for each in alarms(deployment) if each["StateValue"] == "ALARM"]
