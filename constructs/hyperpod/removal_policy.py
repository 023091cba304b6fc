"""Translate `removal` of a cluster file into removal policies."""

import aws_cdk as cdk
from constructs import IConstruct

from config.section import Removal


def removal_policy(removal: Removal) -> cdk.RemovalPolicy:
    """Return the policy for a resource.

    Retained resources are still deleted if the deployment that creates them fails (RetainExceptOnCreate).
    """
    return cdk.RemovalPolicy.DESTROY if removal is Removal.DESTROY else cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE


def retain(*constructs: IConstruct) -> None:
    """Retain all resources in the constructs, for a retained cluster that needs them."""
    for construct in constructs:
        cdk.RemovalPolicies.of(construct).apply(removal_policy(Removal.RETAIN))
