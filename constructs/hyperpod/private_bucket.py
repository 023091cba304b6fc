"""Buckets that nobody but their owner reaches."""

from typing import Any

from aws_cdk import CfnResource, RemovalPolicy, Stack
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from constructs import Construct

from config.section import Removal
from constructs.hyperpod.acknowledge import acknowledge

EMPTIER = "Custom::S3AutoDeleteObjectsCustomResourceProvider"
EMPTIER_LOGS = "BucketEmptierLogs"


def private_bucket(scope: Construct, id: str, *, removal: Removal, why_no_access_logs: str, **properties: Any) -> s3.Bucket:
    """Define a private, encrypted bucket that is reached over TLS alone; with ``removal`` DESTROY it is emptied and deleted."""
    destroy = removal is Removal.DESTROY
    bucket = s3.Bucket(
        scope,
        id,
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        encryption=s3.BucketEncryption.S3_MANAGED,
        enforce_ssl=True,
        removal_policy=RemovalPolicy.DESTROY if destroy else RemovalPolicy.RETAIN,
        auto_delete_objects=destroy,
        **properties,
    )
    acknowledge(bucket, {"AwsSolutions-S1": why_no_access_logs})
    if destroy:
        _keep_emptier_logs(Stack.of(bucket))
    return bucket


def _keep_emptier_logs(stack: Stack) -> None:
    """Give the CDK's emptying function a log group of the stack's: its own would be left behind by a destroy."""
    if stack.node.try_find_child(EMPTIER_LOGS):
        return
    group = logs.LogGroup(stack, EMPTIER_LOGS, retention=logs.RetentionDays.ONE_MONTH, removal_policy=RemovalPolicy.DESTROY)
    handler = stack.node.find_child(EMPTIER).node.find_child("Handler")
    if not isinstance(handler, CfnResource):
        raise TypeError(f"the CDK's emptying function is expected to be a bare resource, got {handler!r}")
    handler.add_property_override("LoggingConfig.LogGroup", group.log_group_name)
