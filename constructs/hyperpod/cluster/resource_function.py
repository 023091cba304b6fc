"""Define a function of the custom resource, in no VPC unless it must reach a private API server."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import aws_cdk as cdk
import jsii
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct, IValidation

from constructs.hyperpod.cluster.function_package import PACKAGE
from constructs.hyperpod.nag import acknowledge_wildcards
from constructs.hyperpod.statement import allow


@dataclass(frozen=True)
class Placement:
    """The subnets and the security group of a function in a VPC."""

    subnet_ids: Sequence[str]
    security_group_id: str

    @property
    def vpc_config(self) -> lambda_.CfnFunction.VpcConfigProperty:
        """The function's VpcConfig."""
        return lambda_.CfnFunction.VpcConfigProperty(
            subnet_ids=list(self.subnet_ids), security_group_ids=[self.security_group_id]
        )


class ResourceFunction(lambda_.Function):
    """Define a function with its log group, and a role that allows only logging and ``statements``.

    AWSLambdaBasicExecutionRole is not attached: with logs:CreateLogGroup, a function that runs while its stack is deleted would
    recreate its log group. The functions are in no VPC, so they work while the cluster's network is changed or deleted, except
    one that must reach a private API server. The code is pure Python and runs on arm64, which is cheaper. ``access`` contains the
    function's role and policies.
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
        package: str = PACKAGE.name,
        placement: Placement | None = None,
        timeout_minutes: int = 1,
    ) -> None:
        access = Construct(scope, f"{id}Access")
        log_group = logs.LogGroup(
            access, "LogGroup", retention=logs.RetentionDays.THREE_MONTHS, removal_policy=cdk.RemovalPolicy.DESTROY
        )
        super().__init__(
            scope,
            id,
            code=code,
            handler=f"{package}.{module}.handler",
            runtime=lambda_.Runtime.PYTHON_3_14,
            architecture=lambda_.Architecture.ARM_64,
            memory_size=256,
            timeout=cdk.Duration.minutes(timeout_minutes),
            environment=dict(environment or {}),
            role=_role(access, log_group, statements),
            log_group=log_group,
        )
        self.access = access
        resource = cast("lambda_.CfnFunction", self.node.default_child)
        if placement:
            self._place(resource, placement)
        self.node.add_validation(NoVpc(resource, placement))

    def _place(self, resource: lambda_.CfnFunction, placement: Placement) -> None:
        """Put the function into subnets, and let Lambda manage its network interfaces there."""
        resource.vpc_config = placement.vpc_config
        self.add_to_role_policy(
            allow(
                "ManageNetworkInterfaces",
                "*",
                "ec2:AssignPrivateIpAddresses",
                "ec2:CreateNetworkInterface",
                "ec2:DeleteNetworkInterface",
                "ec2:DescribeNetworkInterfaces",
                "ec2:DescribeSubnets",
                "ec2:UnassignPrivateIpAddresses",
            )
        )
        # https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html#configuration-vpc-permissions
        acknowledge_wildcards(self.access, {"*": "Lambda checks for these actions on all resources before it accepts a VPC"})


@jsii.implements(IValidation)
class NoVpc:
    """Refuse a function that an aspect put into a VPC, at synth; raw property overrides are not detected.

    In a VPC without internet access, the function reaches neither AWS APIs nor the response URL, and CloudFormation waits an hour
    without an error. Even with internet access, the deployment itself may delete that VPC.
    """

    def __init__(self, function: lambda_.CfnFunction, placement: Placement | None) -> None:
        self._function = function
        self._allowed = placement.vpc_config if placement else None

    def validate(self) -> list[str]:
        """Return the error message if the function is in another VPC than its own."""
        stack = cdk.Stack.of(self._function)
        if stack.resolve(self._function.vpc_config) == stack.resolve(self._allowed):
            return []
        return [
            "VpcConfig: the functions of the custom resource must not be in a VPC, because without internet access they cannot "
            "respond to CloudFormation; exclude the functions below 'Provider' from the aspect that sets VpcConfig"
        ]


def _role(scope: Construct, log_group: logs.LogGroup, statements: Sequence[iam.PolicyStatement]) -> iam.Role:
    write_logs = allow("WriteLogs", log_group.log_group_arn, "logs:CreateLogStream", "logs:PutLogEvents")
    return iam.Role(
        scope,
        "Role",
        assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
        inline_policies={"Function": iam.PolicyDocument(statements=[write_logs, *statements])},
    )
