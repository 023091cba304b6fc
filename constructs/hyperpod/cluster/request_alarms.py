"""Define alarms on failures that CloudFormation does not show."""

import aws_cdk as cdk
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from constructs.hyperpod.monitoring.alarm import AlarmSpec, define_alarms

NAMESPACE = "hyperpod-cdk"
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
        "An unused cluster may still run: its deletion failed. CloudFormation tries up to three times at the end of an update, "
        "and then reports UPDATE_COMPLETE also if all failed: wait for that state before you delete the cluster; search the "
        f"logs of the step and responder functions for '{LEFT}'",
    ),
)


class RequestAlarms(Construct):
    """Define alarms on requests that fail silently, with an optional SNS topic to notify.

    If a response is refused, or even the responder sends none, CloudFormation waits until its timeout of an hour. If all
    three attempts of a deletion fail at the end of an update, the stack is UPDATE_COMPLETE nevertheless.
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
        metric = f"{cdk.Aws.STACK_NAME}-{cdk.Names.unique_id(self)[-8:]}"
        for function in (step, responder):
            self._count(function, metric)
        counted = [
            AlarmSpec(name, description, NAMESPACE, metric, dimensions={"Kind": kind}) for kind, name, description in COUNTED
        ]
        unanswered = AlarmSpec(
            "RequestUnanswered",
            "The responder function failed after all retries: the stack waits an hour for a response to its request; see the log "
            "of the responder function",
            "AWS/Lambda",
            "AsyncEventsDropped",
            dimensions={"FunctionName": responder.function_name},
        )
        define_alarms(self, cdk.Stack.of(self).stack_name, topic_arn, [*counted, unanswered])

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
