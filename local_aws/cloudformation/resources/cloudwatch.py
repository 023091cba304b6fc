"""CloudWatch: alarms on a metric or a sum of metrics, and dashboards."""

import json
from collections.abc import Mapping
from typing import ClassVar

from local_aws.cloudformation.errors import ResourceError
from local_aws.cloudformation.resources.provider import Context, Provider, pick, retag, tolerate
from local_aws.cloudformation.template import Json
from local_aws.metrics import alarms

_ARGUMENTS = (
    "ActionsEnabled",
    "AlarmActions",
    "AlarmDescription",
    "ComparisonOperator",
    "Dimensions",
    "EvaluationPeriods",
    "InsufficientDataActions",
    "MetricName",
    "Metrics",
    "Namespace",
    "OKActions",
    "Period",
    "Statistic",
    "Threshold",
    "TreatMissingData",
)


class Alarm(Provider):
    """AWS::CloudWatch::Alarm on a statistic of a metric, or on the sum of several."""

    type = "AWS::CloudWatch::Alarm"
    acts_on = (*_ARGUMENTS, "AlarmName", "Tags")

    def create(self, context: Context, properties: Json) -> str:
        """Create the alarm and return its name."""
        name = str(properties.get("AlarmName") or context.unique_name(255))
        tags = context.tags(properties)
        self._put(context, name, properties, {"Tags": tags} if tags else {})
        return name

    def _put(self, context: Context, name: str, properties: Json, further: Json) -> None:
        try:
            alarms.check(properties)
        except alarms.AlarmError as error:
            raise ResourceError(str(error)) from error
        context.client("cloudwatch").put_metric_alarm(AlarmName=name, **pick(properties, *_ARGUMENTS), **further)

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the alarm's ARN."""
        return {"Arn": context.arn("cloudwatch", f"alarm:{physical_id}")}

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change the metric, actions and tags, and reset the alarm's state."""
        if pick(properties, *_ARGUMENTS) != pick(before, *_ARGUMENTS):
            self._put(context, physical_id, properties, {})
        retag(context.client("cloudwatch"), properties, before, ResourceARN=context.arn("cloudwatch", f"alarm:{physical_id}"))

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the alarm; CloudWatch accepts an unknown name."""
        context.client("cloudwatch").delete_alarms(AlarmNames=[physical_id])


class Dashboard(Provider):
    """AWS::CloudWatch::Dashboard."""

    type = "AWS::CloudWatch::Dashboard"
    acts_on = ("DashboardBody", "DashboardName")
    without_effect: ClassVar[Mapping[str, str]] = {"Tags": "nothing reads the tags of dashboards"}

    def create(self, context: Context, properties: Json) -> str:
        """Create the dashboard and return its name."""
        name = str(properties.get("DashboardName") or context.unique_name(255))
        self._put(context, name, properties)
        return name

    def _put(self, context: Context, name: str, properties: Json) -> None:
        try:
            json.loads(properties["DashboardBody"])
        except ValueError as error:
            raise ResourceError("The field DashboardBody must be a valid JSON object") from error
        context.client("cloudwatch").put_dashboard(DashboardName=name, DashboardBody=properties["DashboardBody"])

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Replace the body."""
        self._put(context, physical_id, properties)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the dashboard."""
        with tolerate("ResourceNotFound"):
            context.client("cloudwatch").delete_dashboards(DashboardNames=[physical_id])


PROVIDERS = (Alarm(), Dashboard())
