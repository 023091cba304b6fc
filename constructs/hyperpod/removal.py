"""What a cluster file's `removal` means to CloudFormation."""

import aws_cdk as cdk
from constructs import IConstruct

from config.section import Removal


def removal_policy(removal: Removal) -> cdk.RemovalPolicy:
    """The policy for a resource that may be kept.

    A kept one, whatever is in it, goes all the same with a deployment that was to create it and fails (RetainExceptOnCreate): a
    bucket, a file system, a cluster with its role and network.
    """
    return cdk.RemovalPolicy.DESTROY if removal is Removal.DESTROY else cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE


def retain(*constructs: IConstruct) -> None:
    """Keep all resources in the constructs when the stack goes: a cluster that stays needs them."""
    for construct in constructs:
        cdk.RemovalPolicies.of(construct).apply(removal_policy(Removal.RETAIN))
