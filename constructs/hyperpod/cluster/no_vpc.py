"""The functions of the custom resource stay outside of VPCs."""

import jsii
from aws_cdk import aws_lambda as lambda_
from constructs import IValidation


@jsii.implements(IValidation)
class OutsideOfVpcs:
    """Refuse, at synth, a function that an aspect puts into a VPC; raw property overrides are not seen.

    In a VPC without a way out it reaches neither the APIs nor the bucket that takes its answers: the stack hangs for all of
    CloudFormation's hour, and nobody says why. And a VPC with a way out may be what the very same deployment takes down.
    """

    def __init__(self, function: lambda_.CfnFunction) -> None:
        self._function = function

    def validate(self) -> list[str]:
        """What is wrong, if anything is."""
        if self._function.vpc_config is None:
            return []
        return [
            "a function of the cluster's custom resource is in a VPC: without a way out it reaches no API and answers nobody, "
            "and CloudFormation waits its hour; leave the functions below 'Provider' out of what sets their VpcConfig"
        ]
