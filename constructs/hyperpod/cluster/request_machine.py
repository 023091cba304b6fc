"""Define the state machine that processes CloudFormation requests."""

from functools import cached_property

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

from constructs.hyperpod.nag import acknowledge_wildcards
from constructs.hyperpod.service_principal import service_principal
from constructs.hyperpod.statement import allow

INTERVAL_S = 30
# CloudFormation times out after an hour. Steps end a request after 57 minutes; this timeout ends steps that fail to.
TIMEOUT_S = 59 * 60
# Retry all errors: Lambda service errors, timeouts, out of memory, errors in the code.
RETRY = {
    "ErrorEquals": ["States.ALL"],
    "IntervalSeconds": 2,
    "MaxAttempts": 6,
    "BackoffRate": 2,
    "MaxDelaySeconds": 60,
    "JitterStrategy": "FULL",
}


class RequestMachine(sfn.StateMachine):
    """Define a Standard state machine that calls ``step`` every 30 seconds until it is done, then again to send the response.

    The execution's state holds the response before it is sent, so that each retry sends the same. There is no Catch: EventBridge
    reports failed executions to the responder.
    """

    def __init__(self, scope: Construct, id: str, *, step: lambda_.IFunction) -> None:
        inner = Construct(scope, f"{id}Access")
        log_group = logs.LogGroup(
            inner,
            "LogGroup",
            # With this prefix, log delivery does not grow the account's resource policy, which has a size limit.
            log_group_name=f"/aws/vendedlogs/states/{cdk.Aws.STACK_NAME}-{id}",
            retention=logs.RetentionDays.THREE_MONTHS,
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        self._key = RequestKey(inner, "Key")
        super().__init__(
            scope,
            id,
            definition_body=_definition(cdk.Stack.of(scope), step.function_arn),
            # StateMachine would add the right to invoke all versions and aliases of the function.
            role=_role(inner, step, self._key).without_policy_updates(),
            encryption_configuration=sfn.CustomerManagedEncryptionConfiguration(self._key),
            tracing_enabled=True,
            logs=sfn.LogOptions(
                destination=log_group,
                level=sfn.LogLevel.ALL,
                # The input contains the response URL: anyone who can read it can send a response.
                include_execution_data=False,
            ),
        )

    def start_executions(self) -> list[iam.PolicyStatement]:
        """Allow starting executions, and reading their encrypted data."""
        return [allow("StartExecutions", self.state_machine_arn, "states:StartExecution"), self._key.use()]

    def list_executions(self) -> iam.PolicyStatement:
        """Allow listing executions."""
        return allow("ListExecutions", self.state_machine_arn, "states:ListExecutions")

    def supersede(self) -> list[iam.PolicyStatement]:
        """Allow listing, reading and stopping executions of older requests."""
        return [
            self.list_executions(),
            allow(
                "StopSupersededExecutions",
                self._executions,
                "states:DescribeExecution",
                "states:GetExecutionHistory",
                "states:StopExecution",
            ),
        ]

    def wildcards(self) -> dict[str, str]:
        """Return the reason for each wildcard in the statements."""
        return {self._executions: "names of executions are unknown at synth; only executions of this state machine match"}

    @cached_property
    def _executions(self) -> str:
        return self.stack.format_arn(
            service="states",
            resource="execution",
            arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
            resource_name=f"{self.state_machine_name}:*",
        )


class RequestKey(kms.Key):
    """Define the KMS key that encrypts the requests of CloudFormation in a state machine's executions.

    Their input has the signed URL that answers CloudFormation. Without the key, every reader of the account could read it:
    ReadOnlyAccess allows states:GetExecutionHistory, but not kms:Decrypt. The CDK's lookup role denies kms:Decrypt.
    """

    def __init__(self, scope: Construct, id: str) -> None:
        super().__init__(
            scope,
            id,
            description=f"Encrypts CloudFormation's requests in stack {cdk.Aws.STACK_NAME}",
            enable_key_rotation=True,
            # Executions end before their stack; the window is for a deletion by mistake.
            removal_policy=cdk.RemovalPolicy.DESTROY,
            pending_window=cdk.Duration.days(7),
        )

    def use(self) -> iam.PolicyStatement:
        """Allow starting and reading executions.

        https://docs.aws.amazon.com/step-functions/latest/dg/encryption-at-rest.html: both actions for StartExecution and for the
        state machine's role, which also encrypts the logs' delivery.
        """
        return allow("UseRequestKey", self.key_arn, "kms:Decrypt", "kms:GenerateDataKey")


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


def _role(scope: Construct, step: lambda_.IFunction, key: RequestKey) -> iam.Role:
    statements = [
        key.use(),
        allow("InvokeStepLambda", step.function_arn, "lambda:InvokeFunction"),
        allow(
            "ManageLogDelivery",
            "*",
            "logs:CreateLogDelivery",
            "logs:DeleteLogDelivery",
            "logs:DescribeLogGroups",
            "logs:DescribeResourcePolicies",
            "logs:GetLogDelivery",
            "logs:ListLogDeliveries",
            "logs:PutResourcePolicy",
            "logs:UpdateLogDelivery",
        ),
        allow(
            "WriteTraces",
            "*",
            "xray:GetSamplingRules",
            "xray:GetSamplingTargets",
            "xray:PutTelemetryRecords",
            "xray:PutTraceSegments",
        ),
    ]
    # Not its own ARN: the state machine needs the role first.
    machines = cdk.Stack.of(scope).format_arn(
        service="states", resource="stateMachine", arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME, resource_name="*"
    )
    role = iam.Role(
        scope,
        "Role",
        assumed_by=service_principal("states.amazonaws.com", source_arn=machines),
        inline_policies={"StateMachine": iam.PolicyDocument(statements=statements)},
    )
    acknowledge_wildcards(role, {"*": "log delivery and X-Ray support no resources, as the Step Functions documentation says"})
    return role
