"""The state machine that works on a request of CloudFormation until it has sent the response."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from constructs.hyperpod.acknowledged import acknowledge_wildcards

INTERVAL_S = 30
# CloudFormation waits an hour from its own call on. Steps end a request at 57 minutes; this ends steps that do not.
TIMEOUT_S = 59 * 60
# Whatever fails a call: Lambda itself, a time-out, too little memory, an error in our code.
RETRY = {
    "ErrorEquals": ["States.ALL"],
    "IntervalSeconds": 2,
    "MaxAttempts": 6,
    "BackoffRate": 2,
    "MaxDelaySeconds": 60,
    "JitterStrategy": "FULL",
}


class RequestMachine(sfn.StateMachine):
    """Define a Standard state machine that calls ``step`` every 30 seconds, and once more to send the response.

    The response is in the execution's state before it is sent, so that every attempt sends the same. Nothing is caught: an
    execution that fails emits an event to EventBridge, and the responder sends the response.
    """

    def __init__(self, scope: Construct, id: str, *, step: lambda_.IFunction) -> None:
        inner = Construct(scope, f"{id}Access")
        log_group = logs.LogGroup(
            inner,
            "LogGroup",
            # Below this prefix, log delivery needs no entry in the account's one resource policy, which is soon full.
            log_group_name=f"/aws/vendedlogs/states/{cdk.Aws.STACK_NAME}-{id}",
            retention=logs.RetentionDays.THREE_MONTHS,
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        super().__init__(
            scope,
            id,
            definition_body=_definition(cdk.Stack.of(scope), step.function_arn),
            # StateMachine would add the right to invoke every version and alias of the function.
            role=_role(inner, step).without_policy_updates(),
            tracing_enabled=True,
            logs=sfn.LogOptions(
                destination=log_group,
                level=sfn.LogLevel.ALL,
                # The input contains the ResponseURL: anyone who can read it can send a response.
                include_execution_data=False,
            ),
        )

    def starting(self) -> iam.PolicyStatement:
        """Let somebody start work on a request."""
        return iam.PolicyStatement(sid="StartRequests", actions=["states:StartExecution"], resources=[self.state_machine_arn])

    def finding(self) -> iam.PolicyStatement:
        """Let somebody list the requests for a resource."""
        return iam.PolicyStatement(sid="FindRequests", actions=["states:ListExecutions"], resources=[self.state_machine_arn])

    def superseding(self) -> list[iam.PolicyStatement]:
        """Let somebody find the requests for a resource, read what became of them, and stop those that a newer one overtook."""
        return [
            self.finding(),
            iam.PolicyStatement(
                sid="SupersedeRequests",
                actions=["states:DescribeExecution", "states:GetExecutionHistory", "states:StopExecution"],
                resources=[self._executions],
            ),
        ]

    def wildcards(self) -> dict[str, str]:
        """Why resources in the statements end in a wildcard."""
        return {self._executions: "executions are named after requests to come; they are those of this one state machine"}

    @property
    def _executions(self) -> str:
        return self.stack.format_arn(
            service="states",
            resource="execution",
            arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
            resource_name=f"{self.state_machine_name}:*",
        )


def _definition(stack: cdk.Stack, step_arn: str) -> sfn.DefinitionBody:
    event = "$$.Execution.Input.event"
    call = {"Type": "Task", "Resource": f"arn:{stack.partition}:states:::lambda:invoke", "Retry": [RETRY]}
    states = {
        "Step": {
            **call,
            "Parameters": {
                "FunctionName": step_arn,
                "Payload": {
                    "event.$": event,
                    "machine.$": "$$.StateMachine.Id",
                    "memory.$": "$.memory",
                    "now.$": "$$.State.EnteredTime",
                    "started.$": "$$.Execution.StartTime",
                },
            },
            "OutputPath": "$.Payload",
            "Next": "Done",
        },
        "Done": {
            "Type": "Choice",
            "Choices": [{"Variable": "$.done", "BooleanEquals": True, "Next": "Respond"}],
            "Default": "Wait",
        },
        "Wait": {"Type": "Wait", "Seconds": INTERVAL_S, "Next": "Step"},
        "Respond": {
            **call,
            "Parameters": {"FunctionName": step_arn, "Payload": {"event.$": event, "response.$": "$.response"}},
            # The execution's output keeps the response.
            "ResultSelector": {"StatusCode.$": "$.StatusCode"},
            "ResultPath": "$.sent",
            "Next": "Responded",
        },
        "Responded": {"Type": "Succeed"},
    }
    machine = {"StartAt": "Step", "TimeoutSeconds": TIMEOUT_S, "States": states}
    return sfn.DefinitionBody.from_string(stack.to_json_string(machine))


def _role(scope: Construct, step: lambda_.IFunction) -> iam.Role:
    statements = [
        iam.PolicyStatement(sid="CallTheStep", actions=["lambda:InvokeFunction"], resources=[step.function_arn]),
        iam.PolicyStatement(
            sid="DeliverLogs",
            actions=[
                "logs:CreateLogDelivery",
                "logs:DeleteLogDelivery",
                "logs:DescribeLogGroups",
                "logs:DescribeResourcePolicies",
                "logs:GetLogDelivery",
                "logs:ListLogDeliveries",
                "logs:PutResourcePolicy",
                "logs:UpdateLogDelivery",
            ],
            resources=["*"],
        ),
        iam.PolicyStatement(
            sid="Trace",
            actions=[
                "xray:GetSamplingRules",
                "xray:GetSamplingTargets",
                "xray:PutTelemetryRecords",
                "xray:PutTraceSegments",
            ],
            resources=["*"],
        ),
    ]
    role = iam.Role(
        scope,
        "Role",
        assumed_by=iam.ServicePrincipal("states.amazonaws.com"),
        inline_policies={"StateMachine": iam.PolicyDocument(statements=statements)},
    )
    acknowledge_wildcards(role, {"*": "log deliveries and X-Ray know no resources, as Step Functions' documentation says"})
    return role
