"""Define the provider of custom resources: three functions, a state machine and a rule."""

from typing import Protocol, cast

from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from constructs.hyperpod.cluster.function_package import PACKAGE, function_package
from constructs.hyperpod.cluster.request_alarms import RequestAlarms
from constructs.hyperpod.cluster.request_machine import RequestMachine
from constructs.hyperpod.cluster.resource_function import Placement, ResourceFunction
from constructs.hyperpod.nag import acknowledge_wildcards
from constructs.hyperpod.statement import allow


class Permissions(Protocol):
    """What the step function may do."""

    def statements(self) -> list[iam.PolicyStatement]:
        """Return the statements of its role."""

    def wildcards(self) -> dict[str, str]:
        """Return the reason for each wildcard in the statements."""


class ClusterProvider(Construct):
    """Define the provider of custom resources; docs/adr/0002 explains why it is not CDK's Provider.

    The entry function starts an execution for each request, which runs the step function until it has responded. The responder
    handles failures: those of executions through EventBridge, those of the entry function through its on-failure destination.
    ``step_package`` is the folder of lambda_assets with the step function; only that function may be in a VPC.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        alarm_topic_arn: str | None = None,
        step_package: str = PACKAGE.name,
        step_placement: Placement | None = None,
    ) -> None:
        super().__init__(scope, id)
        code = function_package(self, step_package)
        self._step = ResourceFunction(self, "Step", code=code, module="step", package=step_package, placement=step_placement)
        requests = RequestMachine(self, "Requests", step=self._step)
        # A separate policy: the function depends on the role's inline policies, and the state machine on the function.
        step_role = cast("iam.IRole", self._step.role)
        iam.Policy(self, "FindNewerRequests", roles=[step_role], statements=[requests.list_executions()])
        self.step_role_arn = step_role.role_arn
        environment = {"STATE_MACHINE_ARN": requests.state_machine_arn}
        responder = ResourceFunction(
            self,
            "Responder",
            code=code,
            module="responder",
            statements=[*requests.supersede(), *requests.start_executions()],
            environment=environment,
        )
        entry = ResourceFunction(
            self,
            "Entry",
            code=code,
            module="entry",
            statements=[
                *requests.supersede(),
                *requests.start_executions(),
                allow("InvokeResponder", responder.function_arn, "lambda:InvokeFunction"),
            ],
            environment=environment,
        )
        # CloudFormation sends requests to it; it cannot change in an existing stack.
        self.service_token = entry.function_arn
        for function in (entry, responder):
            acknowledge_wildcards(function.access, requests.wildcards())
        self._handle_entry_failures(entry, responder)
        self._handle_request_failures(requests, responder)
        RequestAlarms(self, "Alarms", step=self._step, responder=responder, topic_arn=alarm_topic_arn)

    def permit(self, permissions: Permissions) -> None:
        """Grant ``permissions`` to the step function."""
        for statement in permissions.statements():
            self._step.add_to_role_policy(statement)
        acknowledge_wildcards(self._step.access, permissions.wildcards())

    def _handle_entry_failures(self, entry: lambda_.IFunction, responder: lambda_.IFunction) -> None:
        """Send events that the entry function cannot process within a minute to the responder."""
        lambda_.CfnEventInvokeConfig(
            self,
            "EntryFailures",
            function_name=entry.function_name,
            qualifier="$LATEST",
            maximum_event_age_in_seconds=60,
            maximum_retry_attempts=2,
            destination_config=lambda_.CfnEventInvokeConfig.DestinationConfigProperty(
                on_failure=lambda_.CfnEventInvokeConfig.OnFailureProperty(destination=responder.function_arn)
            ),
        )

    def _handle_request_failures(self, requests: RequestMachine, responder: lambda_.IFunction) -> None:
        """Send executions that ended without a response to the responder."""
        events.Rule(
            self,
            "RequestFailures",
            description="Responds to CloudFormation for failed executions",
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
