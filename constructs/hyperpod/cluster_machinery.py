"""What carries out the custom resource's requests: three functions, a state machine, and the rule for when they fail."""

from pathlib import Path

from aws_cdk import Aws, RemovalPolicy
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from constructs.hyperpod.acknowledge import acknowledge, acknowledge_wildcards, attribute
from constructs.hyperpod.cluster_permissions import CLUSTERS, step_statements
from constructs.hyperpod.node_role import NodeRole
from constructs.hyperpod.resource_function import ResourceFunction

DEFINITION = Path(__file__).with_name("cluster_waiter.asl.json")
UNFINISHED = ["FAILED", "TIMED_OUT", "ABORTED"]


class ClusterMachinery(Construct):
    """Define what answers CloudFormation's requests for a cluster, whatever happens to its parts.

    entry starts an execution of the state machine; its step function looks, acts and waits until the cluster is as asked, and
    answers. Where entry or the execution fails, the responder answers. ADR 2 says why this is not CDK's `Provider`.
    """

    def __init__(self, scope: Construct, id: str, *, node_role: NodeRole) -> None:
        super().__init__(scope, id)
        self._step = ResourceFunction(self, "Step", module="step")
        node_role.grant_pass_to_sagemaker(self._step.function)
        waiter = self._waiter()
        machine = {"STATE_MACHINE_ARN": waiter.state_machine_arn}
        responder = ResourceFunction(self, "Responder", module="responder", environment=machine)
        responder.allow(_list(waiter), _look_and_stop(waiter, "states:GetExecutionHistory"))
        self._entry = ResourceFunction(self, "Entry", module="entry", environment=machine)
        self._entry.allow(_list(waiter, "states:StartExecution"), _look_and_stop(waiter))
        self._answer_for_entry(responder)
        self._acknowledge_executions(waiter, responder, self._entry)
        events.Rule(
            self,
            "Unfinished",
            description="Executions that ended without an answer",
            event_pattern=events.EventPattern(
                source=["aws.states"],
                detail_type=["Step Functions Execution Status Change"],
                detail={"stateMachineArn": [waiter.state_machine_arn], "status": UNFINISHED},
            ),
            targets=[targets.LambdaFunction(responder.function)],
        )

    @property
    def service_token(self) -> str:
        """The ARN that CloudFormation calls."""
        return self._entry.function.function_arn

    def allow_clusters_of(self, logical_id: str) -> None:
        """Let the step function make clusters tagged with this stack and ``logical_id``, and change those."""
        self._step.allow(*step_statements(logical_id))
        acknowledge_wildcards(
            self._step,
            {
                CLUSTERS: "a cluster's ARN ends in an id that nobody knows before; tags in the conditions say which are ours",
                "*": "sagemaker:ListClusters takes no narrower resource",
            },
        )

    def _waiter(self) -> sfn.StateMachine:
        """Its logs leave out the executions' data, which hold the response URL."""
        log_group = logs.LogGroup(
            self, "WaiterLogs", retention=logs.RetentionDays.ONE_MONTH, removal_policy=RemovalPolicy.DESTROY
        )
        waiter = sfn.StateMachine(
            self,
            "Waiter",
            definition_body=sfn.DefinitionBody.from_string(DEFINITION.read_text()),
            definition_substitutions={"Partition": Aws.PARTITION, "StepFunctionArn": self._step.function.function_arn},
            logs=sfn.LogOptions(destination=log_group, level=sfn.LogLevel.ALL, include_execution_data=False),
        )
        waiter.add_to_role_policy(_invoke(self._step))
        acknowledge(waiter, {"AwsSolutions-SF2": "one function in a loop: its log line per step says what a trace would"})
        acknowledge_wildcards(waiter, {"*": "the log delivery that vended logs need takes no narrower resource"})
        return waiter

    def _acknowledge_executions(self, waiter: sfn.StateMachine, *functions: ResourceFunction) -> None:
        executions = _executions(attribute(waiter, "Name"))
        for function in functions:
            acknowledge_wildcards(
                function, {executions: "the executions of this one state machine, named after requests to come"}
            )

    def _answer_for_entry(self, responder: ResourceFunction) -> None:
        """Let the responder answer for an event that the entry function could not handle, or not in time."""
        lambda_.CfnEventInvokeConfig(
            self,
            "EntryFailures",
            function_name=self._entry.function.function_name,
            qualifier="$LATEST",
            maximum_event_age_in_seconds=60,
            maximum_retry_attempts=2,
            destination_config=lambda_.CfnEventInvokeConfig.DestinationConfigProperty(
                on_failure=lambda_.CfnEventInvokeConfig.OnFailureProperty(destination=responder.function.function_arn)
            ),
        )
        self._entry.allow(_invoke(responder))


def _invoke(function: ResourceFunction) -> iam.PolicyStatement:
    return iam.PolicyStatement(actions=["lambda:InvokeFunction"], resources=[function.function.function_arn])


def _list(waiter: sfn.StateMachine, *further: str) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        sid="FindExecutions", actions=["states:ListExecutions", *further], resources=[waiter.state_machine_arn]
    )


def _look_and_stop(waiter: sfn.StateMachine, *further: str) -> iam.PolicyStatement:
    actions = ["states:DescribeExecution", "states:StopExecution", *further]
    return iam.PolicyStatement(sid="SupersedeExecutions", actions=actions, resources=[_executions(waiter.state_machine_name)])


def _executions(state_machine: str) -> str:
    return f"arn:{Aws.PARTITION}:states:{Aws.REGION}:{Aws.ACCOUNT_ID}:execution:{state_machine}:*"
