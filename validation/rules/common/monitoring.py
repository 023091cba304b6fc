"""Check the monitoring section, and the topics of alarms."""

from collections.abc import Iterator

from config.arns import Arn
from config.entries import repeated
from config.errors import Level, Problem
from config.model import ClusterConfig
from validation.rules.registry import rule


@rule("duplicate-emails", "monitoring")
def duplicate_emails(config: ClusterConfig) -> Iterator[Problem]:
    """Each address in `monitoring.emails` must be unique.

    SNS has one subscription for each address: with two resources, deleting one would delete it.
    """
    emails = config.monitoring.emails
    for index, _, _ in repeated((index, email.lower()) for index, email in enumerate(emails)):
        yield Problem(("monitoring", "emails", index), emails[index], "duplicate", "remove one")


@rule("unused-monitoring", "monitoring", level=Level.WARNING)
def unused_monitoring(config: ClusterConfig) -> Iterator[Problem]:
    """`monitoring.enabled: false` should have no other settings beside it.

    Without the monitoring stack, nothing uses them.
    """
    unused = sorted(config.monitoring.model_fields_set - {"enabled"})
    if not config.monitoring.enabled and unused:
        message = f"{', '.join(unused)} {'has' if len(unused) == 1 else 'have'} no effect"
        yield Problem(("monitoring", "enabled"), value=False, message=message, fix="remove it, or set `true`")


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
