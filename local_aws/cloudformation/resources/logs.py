"""CloudWatch Logs: log groups and their metric filters."""

from local_aws.cloudformation.errors import ResourceError
from local_aws.cloudformation.resources.provider import Context, Provider, as_map, changed, retag, tolerate
from local_aws.cloudformation.template import Json
from local_aws.metrics.patterns import PatternError, matcher

GONE = "ResourceNotFoundException"


class LogGroup(Provider):
    """AWS::Logs::LogGroup."""

    type = "AWS::Logs::LogGroup"
    acts_on = ("KmsKeyId", "LogGroupName", "RetentionInDays", "Tags")

    def create(self, context: Context, properties: Json) -> str:
        """Create the group and return its name."""
        name = str(properties.get("LogGroupName") or context.unique_name(512))
        tags = as_map(context.tags(properties))
        key = {"kmsKeyId": properties["KmsKeyId"]} if "KmsKeyId" in properties else {}
        context.client("logs").create_log_group(logGroupName=name, **key, **({"tags": tags} if tags else {}))
        context.identify(name)
        self._set_retention(context, name, properties, {})
        return name

    def _set_retention(self, context: Context, name: str, properties: Json, before: Json) -> None:
        if not changed(properties, before, "RetentionInDays"):
            return
        if "RetentionInDays" in properties:
            context.client("logs").put_retention_policy(logGroupName=name, retentionInDays=properties["RetentionInDays"])
        else:
            context.client("logs").delete_retention_policy(logGroupName=name)

    def attributes(self, context: Context, physical_id: str, properties: Json) -> Json:
        """Return the group's ARN, which ends in `*` for its streams."""
        return {"Arn": context.arn("logs", f"log-group:{physical_id}:*")}

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change the retention, key and tags."""
        logs = context.client("logs")
        self._set_retention(context, physical_id, properties, before)
        if changed(properties, before, "KmsKeyId"):
            if "KmsKeyId" in properties:
                logs.associate_kms_key(logGroupName=physical_id, kmsKeyId=properties["KmsKeyId"])
            else:
                logs.disassociate_kms_key(logGroupName=physical_id)
        retag(logs, properties, before, as_map, resourceArn=context.arn("logs", f"log-group:{physical_id}"))

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the group."""
        with tolerate(GONE):
            context.client("logs").delete_log_group(logGroupName=physical_id)


class MetricFilter(Provider):
    """AWS::Logs::MetricFilter with a JSON pattern."""

    type = "AWS::Logs::MetricFilter"
    acts_on = (
        "FilterName",
        "FilterPattern",
        "LogGroupName",
        "MetricTransformations/Dimensions",
        "MetricTransformations/MetricName",
        "MetricTransformations/MetricNamespace",
        "MetricTransformations/MetricValue",
    )

    def create(self, context: Context, properties: Json) -> str:
        """Create the filter and return its name."""
        name = str(properties.get("FilterName") or context.unique_name(512))
        self._put(context, name, properties)
        return name

    def _put(self, context: Context, name: str, properties: Json) -> None:
        try:
            matcher(properties["FilterPattern"])
        except PatternError as error:
            raise ResourceError(str(error)) from error
        context.client("logs").put_metric_filter(
            logGroupName=properties["LogGroupName"],
            filterName=name,
            filterPattern=properties["FilterPattern"],
            metricTransformations=[_transformation(one) for one in properties["MetricTransformations"]],
        )

    def update(self, context: Context, physical_id: str, properties: Json, before: Json) -> None:
        """Change the pattern and metrics."""
        # Moto keeps two filters of one name, but CloudWatch Logs replaces the first.
        self.delete(context, physical_id, before)
        self._put(context, physical_id, properties)

    def delete(self, context: Context, physical_id: str, properties: Json) -> None:
        """Delete the filter; it may already be gone with its group."""
        with tolerate(GONE):
            context.client("logs").delete_metric_filter(logGroupName=properties["LogGroupName"], filterName=physical_id)


def _transformation(given: Json) -> Json:
    """Return a transformation in the form of the API's calls; CloudFormation writes dimensions as a list."""
    named = {f"{name[0].lower()}{name[1:]}": value for name, value in given.items() if name != "Dimensions"}
    dimensions = {one["Key"]: one["Value"] for one in given.get("Dimensions") or ()}
    return {**named, **({"dimensions": dimensions} if dimensions else {})}


PROVIDERS = (LogGroup(), MetricFilter())
