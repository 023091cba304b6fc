"""The function of CDK's that empties a bucket before the bucket is deleted."""

from typing import cast

import aws_cdk as cdk
from aws_cdk import aws_logs as logs
from constructs import Construct

PROVIDER = "Custom::S3AutoDeleteObjectsCustomResourceProvider"


def log_emptying(scope: Construct) -> None:
    """Give the function a log group that goes with the stack, and a role that cannot bring it back.

    CDK leaves the group to Lambda, which makes it without an end date and outside the stack, so that each destroyed cluster
    would leave one. It is one function for all buckets of a stack: call this once per stack.
    """
    group = logs.LogGroup(scope, "EmptyingLogs", retention=logs.RetentionDays.ONE_MONTH, removal_policy=cdk.RemovalPolicy.DESTROY)
    provider = cdk.Stack.of(scope).node.find_child(PROVIDER)
    function = cast("cdk.CfnResource", provider.node.find_child("Handler"))
    function.add_property_override("LoggingConfig", {"LogGroup": group.log_group_name})
    role = _role(scope)
    role.add_property_deletion_override("ManagedPolicyArns")
    role.add_property_override("Policies", [_write_to(group)])


def emptying_role_arn(scope: Construct) -> str:
    """Return the ARN of the function's role."""
    return _role(scope).get_att("Arn").to_string()


def _role(scope: Construct) -> cdk.CfnResource:
    provider = cdk.Stack.of(scope).node.find_child(PROVIDER)
    return cast("cdk.CfnResource", provider.node.find_child("Role"))


def _write_to(group: logs.ILogGroup) -> dict[str, object]:
    statement = {
        "Sid": "WriteToThisGroup",
        "Effect": "Allow",
        "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
        "Resource": group.log_group_arn,
    }
    return {"PolicyName": "Logs", "PolicyDocument": {"Version": "2012-10-17", "Statement": [statement]}}
