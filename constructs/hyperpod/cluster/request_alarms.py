"""Define alarms on failures that CloudFormation does not show."""

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

NAMESPACE = "hyperpod-cdk"
UNANSWERED = "RequestUnanswered"
# Values of `alarm` in the log of lambda_assets/cluster_resource/response.py.
REFUSED, LEFT = "response refused", "deletion failed"

# Counted in the logs: value of `alarm`, alarm and its description.
COUNTED = (
    (
        REFUSED,
        "AnswerRefused",
        "CloudFormation refused a response because its URL had expired: the stack waits or has timed out; search the logs of the "
        f"step and responder functions for '{REFUSED}'",
    ),
    (
        LEFT,
        "DeletionFailed",
        "An unused cluster may still run: its deletion failed, which CloudFormation does not show at the end of an update; "
        f"search the logs of the step and responder functions for '{LEFT}'",
    ),
)


def alarm_names(stack: str) -> list[str]:
    """Return the names of the alarms in the stack."""
    return [f"{stack}-{name}" for name in (*(name for _, name, _ in COUNTED), UNANSWERED)]


class RequestAlarms(Construct):
    """Define alarms on requests that fail silently, with an optional SNS topic to notify.

    If a response is refused, or even the responder sends none, CloudFormation waits until its timeout of an hour. If a deletion
    fails at the end of an update, the stack is UPDATE_COMPLETE nevertheless.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        step: lambda_.Function,
        responder: lambda_.Function,
        topic_arn: str | None,
    ) -> None:
        super().__init__(scope, id)
        self._actions = [topic_arn] if topic_arn else None
        self._stack_name = cdk.Stack.of(self).stack_name
        metric = f"{cdk.Aws.STACK_NAME}-{cdk.Names.unique_id(self)[-8:]}"
        for function in (step, responder):
            self._count(function, metric)
        for kind, name, description in COUNTED:
            self._alarm(name, description, NAMESPACE, metric, {"Kind": kind})
        self._alarm(
            UNANSWERED,
            "The responder function failed after all retries: the stack waits an hour for a response to its request; see the log "
            "of the responder function",
            "AWS/Lambda",
            "AsyncEventsDropped",
            {"FunctionName": responder.function_name},
        )

    def _count(self, function: lambda_.Function, metric: str) -> None:
        logs.CfnMetricFilter(
            self,
            f"{function.node.id}Troubles",
            log_group_name=function.log_group.log_group_name,
            filter_pattern=f'{{ $.alarm = "{REFUSED}" || $.alarm = "{LEFT}" }}',
            metric_transformations=[
                logs.CfnMetricFilter.MetricTransformationProperty(
                    metric_namespace=NAMESPACE,
                    metric_name=metric,
                    metric_value="1",
                    dimensions=[logs.CfnMetricFilter.DimensionProperty(key="Kind", value="$.alarm")],
                )
            ],
        )

    def _alarm(self, id: str, description: str, namespace: str, metric: str, dimensions: dict[str, str]) -> None:
        cloudwatch.CfnAlarm(
            self,
            id,
            alarm_name=f"{self._stack_name}-{id}",
            alarm_description=description,
            namespace=namespace,
            metric_name=metric,
            dimensions=[cloudwatch.CfnAlarm.DimensionProperty(name=name, value=value) for name, value in dimensions.items()],
            statistic="Sum",
            period=300,
            evaluation_periods=1,
            threshold=1,
            comparison_operator="GreaterThanOrEqualToThreshold",
            treat_missing_data="notBreaching",
            alarm_actions=self._actions,
        )
