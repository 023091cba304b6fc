"""The CloudWatch alarms of a deployment, which CloudFormation names after their stacks."""

from collections.abc import Iterator
from typing import Any

from cli.deployment import STACKS, Deployment

ALARM_STACKS = (*STACKS, "Monitoring")


def alarms(deployment: Deployment) -> Iterator[dict[str, Any]]:
    """Yield the alarms of the deployment's stacks."""
    client = deployment.client("cloudwatch")
    for stack in ALARM_STACKS:
        prefix = f"{deployment.config.name}-{stack}"
        for page in client.get_paginator("describe_alarms").paginate(AlarmNamePrefix=prefix):
            yield from (each for each in page["MetricAlarms"] if each["AlarmName"].startswith(prefix))
            yield from (each for each in page.get("CompositeAlarms") or () if each["AlarmName"].startswith(prefix))


def raised(deployment: Deployment) -> list[dict[str, Any]]:
    """Return the alarms that are in ALARM."""
    return [each for each in alarms(deployment) if each["StateValue"] == "ALARM"]
