"""Check that referenced resources are in the cluster's region."""

from collections.abc import Iterator

from config.arns import Arn
from config.errors import Level, Problem
from config.model import ClusterConfig
from validation.rules.registry import rule


@rule("topic-region", "alarm_topic_arn", "monitoring", "region")
def topic_region(config: ClusterConfig) -> Iterator[Problem]:
    """SNS topics for alarms must be in the cluster's region.

    CloudWatch alarms can only notify topics in their own region; CloudFormation fails after network and storage are created.
    """
    # https://github.com/cds-snc/notification-terraform/pull/128 has PutMetricAlarm's error.
    topics = {("alarm_topic_arn",): config.alarm_topic_arn, ("monitoring", "topic_arn"): config.monitoring.topic_arn}
    for path, arn in topics.items():
        if arn and config.region and (region := Arn.of(arn).region) != config.region:
            message = f"is in {region}, but alarms can only notify topics in their own region"
            yield Problem(path, arn, message, f"use a topic in {config.region}")


@rule("openzfs-region", "storage.openzfs", "region", level=Level.WARNING)
def openzfs_region(config: ClusterConfig) -> Iterator[Problem]:
    """The OpenZFS file system for home directories should be in the cluster's region.

    Across regions, every access to a home directory is slow or fails.
    """
    if config.storage.openzfs and config.region:
        name = config.storage.openzfs.dns_name
        region = name.split(".")[2]
        if region != config.region:
            fix = f"use a file system in {config.region}, or suppress this warning"
            yield Problem(("storage", "openzfs", "dns_name"), name, f"is in {region}, but the cluster is in {config.region}", fix)
