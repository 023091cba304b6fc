"""Keep the functions of custom resources out of VPCs, except those that must reach a private API server."""

from collections.abc import Sequence
from dataclasses import dataclass

import aws_cdk as cdk
import jsii
from aws_cdk import aws_lambda as lambda_
from constructs import IValidation


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


@jsii.implements(IValidation)
class NoVpc:
    """Refuse a function that an aspect put into a VPC, at synth; raw property overrides are not detected.

    In a VPC without internet access, the function reaches neither AWS APIs nor the response URL, and CloudFormation waits an hour
    without an error. Even with internet access, the deployment itself may delete that VPC.
    """

    def __init__(self, function: lambda_.CfnFunction, placement: Placement | None = None) -> None:
        self._function = function
        self._allowed = placement.vpc_config if placement else None

    def validate(self) -> list[str]:
        """Return the error message if the function is in another VPC than its own."""
        if self._is_in_place():
            return []
        return [
            "VpcConfig: the functions of the custom resource must not be in a VPC, because without internet access they cannot "
            "respond to CloudFormation; exclude the functions below 'Provider' from the aspect that sets VpcConfig"
        ]

    def _is_in_place(self) -> bool:
        if self._allowed is None:
            return self._function.vpc_config is None
        stack = cdk.Stack.of(self._function)
        return bool(stack.resolve(self._function.vpc_config) == stack.resolve(self._allowed))
