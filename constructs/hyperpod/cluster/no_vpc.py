"""Keep the functions of the custom resource out of VPCs."""

import jsii
from aws_cdk import aws_lambda as lambda_
from constructs import IValidation


@jsii.implements(IValidation)
class NoVpc:
    """Refuse a function that an aspect put into a VPC, at synth; raw property overrides are not detected.

    In a VPC without internet access, the function reaches neither AWS APIs nor the response URL, and CloudFormation waits an hour
    without an error. Even with internet access, the deployment itself may delete that VPC.
    """

    def __init__(self, function: lambda_.CfnFunction) -> None:
        self._function = function

    def validate(self) -> list[str]:
        """Return the error message if the function is in a VPC."""
        if self._function.vpc_config is None:
            return []
        return [
            "VpcConfig: the functions of the custom resource must not be in a VPC, because without internet access they cannot "
            "respond to CloudFormation; exclude the functions below 'Provider' from the aspect that sets VpcConfig"
        ]
