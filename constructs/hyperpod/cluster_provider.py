"""What answers CloudFormation for the cluster: three functions, a state machine and a rule."""

import aws_cdk as cdk
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from constructs.hyperpod.acknowledged import acknowledge_wildcards
from constructs.hyperpod.function_package import function_package
from constructs.hyperpod.request_machine import RequestMachine
from constructs.hyperpod.resource_function import ResourceFunction
from constructs.hyperpod.step_permissions import StepPermissions


class ClusterProvider(Construct):
    """Define the machinery behind the custom resource; docs/adr/0002 says why it is not CDK's Provider.

    The entry function starts an execution per request, in which the step function works until it has answered. Whatever dies on
    the way is answered for by the responder: executions by way of EventBridge, the entry by way of its on-failure destination.
    """

    def __init__(self, scope: Construct, id: str) -> None:
        super().__init__(scope, id)
        code = function_package(self)
        self._step = ResourceFunction(self, "Step", code=code, module="step")
        self._requests = RequestMachine(self, "Requests", step=self._step)
        responder = ResourceFunction(
            self,
            "Responder",
            code=code,
            module="responder",
            statements=self._on_requests("states:GetExecutionHistory"),
            environment=self._environment(),
        )
        self._entry = ResourceFunction(
            self,
            "Entry",
            code=code,
            module="entry",
            statements=[
                *self._on_requests(),
                iam.PolicyStatement(sid="HandFailuresOn", actions=["lambda:InvokeFunction"], resources=[responder.function_arn]),
            ],
            environment=self._environment(),
        )
        reason = "executions are named after requests; they are those of this one state machine"
        for function in (self._entry, responder):
            acknowledge_wildcards(function.access, {self._executions: reason})
        self._answer_failures_of_entry(responder)
        self._answer_failures_of_requests(responder)

    @property
    def service_token(self) -> str:
        """The ARN that CloudFormation sends requests to. It cannot change in a stack that exists."""
        return self._entry.function_arn

    def permit(self, permissions: StepPermissions) -> None:
        """Let the step function do what ``permissions`` say."""
        for statement in permissions.statements():
            self._step.add_to_role_policy(statement)
        acknowledge_wildcards(self._step.access, permissions.wildcards())

    def _environment(self) -> dict[str, str]:
        return {"STATE_MACHINE_ARN": self._requests.state_machine_arn}

    def _on_requests(self, *further: str) -> list[iam.PolicyStatement]:
        """What entry and responder do with executions: find those of a resource, and stop what a newer request overtook."""
        return [
            iam.PolicyStatement(
                sid="FindAndStartRequests",
                actions=["states:ListExecutions", "states:StartExecution"],
                resources=[self._requests.state_machine_arn],
            ),
            iam.PolicyStatement(
                sid="SeeAndStopRequests",
                actions=["states:DescribeExecution", "states:StopExecution", *further],
                resources=[self._executions],
            ),
        ]

    @property
    def _executions(self) -> str:
        return cdk.Stack.of(self).format_arn(
            service="states",
            resource="execution",
            arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
            resource_name=f"{self._requests.state_machine_name}:*",
        )

    def _answer_failures_of_entry(self, responder: lambda_.IFunction) -> None:
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

    def _answer_failures_of_requests(self, responder: lambda_.IFunction) -> None:
        """Hand on executions that ended without an answer."""
        events.Rule(
            self,
            "RequestFailures",
            description="answers CloudFormation for executions that could not",
            event_pattern=events.EventPattern(
                source=["aws.states"],
                detail_type=["Step Functions Execution Status Change"],
                detail={
                    "stateMachineArn": [self._requests.state_machine_arn],
                    "status": ["ABORTED", "FAILED", "TIMED_OUT"],
                },
            ),
            targets=[targets.LambdaFunction(responder)],
        )
