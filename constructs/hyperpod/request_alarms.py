"""Alarms on what CloudFormation is not told, or does not show."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

NAMESPACE = "hyperpod-cdk"
# What lambda_assets/cluster_resource/response.py calls it in its log.
REFUSED, LEFT = "response refused", "deletion failed"

# What is counted in the logs: its kind there, the alarm on it, and what that says.
COUNTED = (
    (
        REFUSED,
        "AnswerRefused",
        "CloudFormation refused an answer, whose address had expired: its stack waits, or has given up; see the log of the "
        "step function and of the responder for 'response refused'",
    ),
    (
        LEFT,
        "DeletionFailed",
        "a cluster may be left that nobody needs: its deletion failed, which a stack does not show at the end of an update; "
        "see the log of the step function for 'deletion failed', which has the reason",
    ),
)


class RequestAlarms(Construct):
    """Define alarms for the requests that end in the dark; ``topic_arn`` is told of each, where there is one.

    An answer that its address refuses, and a request that even the responder left without an answer, have CloudFormation wait its
    hour. And of a deletion at the end of an update CloudFormation hides the failure: the stack says UPDATE_COMPLETE.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        answering: Sequence[lambda_.Function],
        last_resort: lambda_.IFunction,
        topic_arn: str | None,
    ) -> None:
        super().__init__(scope, id)
        self._actions = [topic_arn] if topic_arn else None
        metric = f"{cdk.Aws.STACK_NAME}-{cdk.Names.unique_id(self)[-8:]}"
        for function in answering:
            self._count(function, metric)
        for kind, name, description in COUNTED:
            self._alarm(name, description, NAMESPACE, metric, {"Kind": kind})
        self._alarm(
            "RequestUnanswered",
            "the responder failed for good: a request of CloudFormation's has no answer, and its stack waits for an hour; see "
            "the responder's log",
            "AWS/Lambda",
            "AsyncEventsDropped",
            {"FunctionName": last_resort.function_name},
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
