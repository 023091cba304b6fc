"""What a cluster file's `removal` means to CloudFormation."""

import aws_cdk as cdk
from constructs import IConstruct

from config.section import Removal


def removal_policy(removal: Removal) -> cdk.RemovalPolicy:
    """The policy for a resource that holds data; one that a failed first deployment made, and is empty, always goes."""
    return cdk.RemovalPolicy.DESTROY if removal is Removal.DESTROY else cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE


def retain(*constructs: IConstruct) -> None:
    """Keep all resources in the constructs when the stack goes: a cluster that stays needs them."""
    for construct in constructs:
        cdk.RemovalPolicies.of(construct).apply(removal_policy(Removal.RETAIN))
