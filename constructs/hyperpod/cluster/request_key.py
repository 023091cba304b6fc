"""Define the KMS key that encrypts the requests of CloudFormation in executions."""

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct


class RequestKey(kms.Key):
    """Define the key of a state machine's executions.

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
        return iam.PolicyStatement(sid="UseRequestKey", actions=["kms:Decrypt", "kms:GenerateDataKey"], resources=[self.key_arn])
