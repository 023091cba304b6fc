"""A function of the custom resource."""

from collections.abc import Mapping

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from constructs.hyperpod.resource_package import resource_package


class ResourceFunction(Construct):
    """Define a function of the custom resource's package, with a log group of ours and a role that may write to it alone.

    The role cannot create log groups: a function that logs once more after its group is gone would bring it back.
    """

    def __init__(self, scope: Construct, id: str, *, module: str, environment: Mapping[str, str] | None = None) -> None:
        super().__init__(scope, id)
        self.log_group = logs.LogGroup(self, "Logs", retention=logs.RetentionDays.ONE_MONTH, removal_policy=RemovalPolicy.DESTROY)
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        self.function = lambda_.Function(
            self,
            "Resource",
            runtime=lambda_.Runtime.PYTHON_3_14,
            handler=f"cluster_resource.{module}.handler",
            code=lambda_.Code.from_asset(resource_package()),
            role=role,
            log_group=self.log_group,
            timeout=Duration.minutes(1),
            memory_size=256,
            environment=dict(environment or {}),
        )
        self.log_group.grant(role, "logs:CreateLogStream", "logs:PutLogEvents")

    def allow(self, *statements: iam.PolicyStatement) -> None:
        """Let the function do what ``statements`` say."""
        for statement in statements:
            self.function.add_to_role_policy(statement)
