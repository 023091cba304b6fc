"""What answers CloudFormation for the cluster: three functions, a state machine and a rule."""

from typing import cast

from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from constructs.hyperpod.cluster.function_package import function_package
from constructs.hyperpod.cluster.request_alarms import RequestAlarms
from constructs.hyperpod.cluster.request_machine import RequestMachine
from constructs.hyperpod.cluster.resource_function import ResourceFunction
from constructs.hyperpod.cluster.step_permissions import StepPermissions
from constructs.hyperpod.nag import acknowledge_wildcards


class ClusterProvider(Construct):
    """Define the machinery behind the custom resource; docs/adr/0002 says why it is not CDK's Provider.

    The entry function starts an execution per request, in which the step function works until it has answered. Whatever dies on
    the way is answered for by the responder: executions by way of EventBridge, the entry by way of its on-failure destination.
    """

    def __init__(self, scope: Construct, id: str, *, alarm_topic_arn: str | None = None) -> None:
        super().__init__(scope, id)
        code = function_package(self)
        self._step = ResourceFunction(self, "Step", code=code, module="step")
        requests = RequestMachine(self, "Requests", step=self._step)
        # Not in the role's own policy: the function depends on that one, and the state machine on the function.
        iam.Policy(self, "FindNewerRequests", roles=[cast("iam.IRole", self._step.role)], statements=[requests.finding()])
        environment = {"STATE_MACHINE_ARN": requests.state_machine_arn}
        responder = ResourceFunction(
            self,
            "Responder",
            code=code,
            module="responder",
            statements=[*requests.superseding(), requests.starting()],
            environment=environment,
        )
        self._entry = ResourceFunction(
            self,
            "Entry",
            code=code,
            module="entry",
            statements=[*requests.superseding(), requests.starting(), _invoking(responder)],
            environment=environment,
        )
        for function in (self._entry, responder):
            acknowledge_wildcards(function.access, requests.wildcards())
        self._answer_for_entry(responder)
        self._answer_for_requests(requests, responder)
        RequestAlarms(self, "Alarms", answering=(self._step, responder), last_resort=responder, topic_arn=alarm_topic_arn)

    @property
    def service_token(self) -> str:
        """The ARN that CloudFormation sends requests to. It cannot change in a stack that exists."""
        return self._entry.function_arn

    def permit(self, permissions: StepPermissions) -> None:
        """Let the step function do what ``permissions`` say."""
        for statement in permissions.statements():
            self._step.add_to_role_policy(statement)
        acknowledge_wildcards(self._step.access, permissions.wildcards())

    def _answer_for_entry(self, responder: lambda_.IFunction) -> None:
        """Hand on events that the entry could not start: a request that is a minute old may have been overtaken."""
        lambda_.CfnEventInvokeConfig(
            self,
            "EntryFailures",
            function_name=self._entry.function_name,
            qualifier="$LATEST",
            maximum_event_age_in_seconds=60,
            maximum_retry_attempts=2,
            destination_config=lambda_.CfnEventInvokeConfig.DestinationConfigProperty(
                on_failure=lambda_.CfnEventInvokeConfig.OnFailureProperty(destination=responder.function_arn)
            ),
        )

    def _answer_for_requests(self, requests: RequestMachine, responder: lambda_.IFunction) -> None:
        """Hand on executions that ended without an answer."""
        events.Rule(
            self,
            "RequestFailures",
            description="answers CloudFormation for executions that could not",
            event_pattern=events.EventPattern(
                source=["aws.states"],
                detail_type=["Step Functions Execution Status Change"],
                detail={
                    "stateMachineArn": [requests.state_machine_arn],
                    "status": ["ABORTED", "FAILED", "TIMED_OUT"],
                },
            ),
            targets=[targets.LambdaFunction(responder)],
        )


def _invoking(function: lambda_.IFunction) -> iam.PolicyStatement:
    return iam.PolicyStatement(sid="HandFailuresOn", actions=["lambda:InvokeFunction"], resources=[function.function_arn])
