"""Name the SNS topic of a cluster's notifications."""

import aws_cdk as cdk

from config.model import ClusterConfig


def topic_name(config: ClusterConfig) -> str:
    """Return the name of a new topic; it is fixed, so that alarms in other stacks need no reference to it."""
    return f"{config.name}-monitoring"


def topic_arn(config: ClusterConfig) -> str | None:
    """Return the ARN of the topic for notifications; None if monitoring is off."""
    if not config.monitoring.enabled:
        return None
    new = f"arn:{cdk.Aws.PARTITION}:sns:{cdk.Aws.REGION}:{cdk.Aws.ACCOUNT_ID}:{topic_name(config)}"
    return config.monitoring.topic_arn or new
