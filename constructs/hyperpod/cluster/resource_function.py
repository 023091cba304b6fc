"""Define a function of the custom resource."""

from collections.abc import Mapping, Sequence
from typing import cast

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from constructs.hyperpod.cluster.no_vpc import NoVpc


class ResourceFunction(lambda_.Function):
    """Define a function with its log group, and a role that allows only logging and ``statements``.

    AWSLambdaBasicExecutionRole is not attached: with logs:CreateLogGroup, a function that runs while its stack is deleted would
    recreate its log group. The functions are in no VPC, so they work while the cluster's network is changed or deleted. The code
    is pure Python and runs on arm64, which is cheaper.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        code: lambda_.Code,
        module: str,
        statements: Sequence[iam.PolicyStatement] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        access = Construct(scope, f"{id}Access")
        log_group = logs.LogGroup(
            access, "LogGroup", retention=logs.RetentionDays.THREE_MONTHS, removal_policy=cdk.RemovalPolicy.DESTROY
        )
        super().__init__(
            scope,
            id,
            code=code,
            handler=f"cluster_resource.{module}.handler",
            runtime=lambda_.Runtime.PYTHON_3_14,
            architecture=lambda_.Architecture.ARM_64,
            memory_size=256,
            timeout=cdk.Duration.minutes(1),
            environment=dict(environment or {}),
            role=_role(access, log_group, statements),
            log_group=log_group,
        )
        self._access = access
        self.node.add_validation(NoVpc(cast("lambda_.CfnFunction", self.node.default_child)))

    @property
    def access(self) -> Construct:
        """The construct that contains the function's role and policies."""
        return self._access


def _role(scope: Construct, log_group: logs.LogGroup, statements: Sequence[iam.PolicyStatement]) -> iam.Role:
    write_logs = iam.PolicyStatement(
        sid="WriteLogs", actions=["logs:CreateLogStream", "logs:PutLogEvents"], resources=[log_group.log_group_arn]
    )
    return iam.Role(
        scope,
        "Role",
        assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
        inline_policies={"Function": iam.PolicyDocument(statements=[write_logs, *statements])},
    )
