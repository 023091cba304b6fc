"""Set up logs for the CDK function that empties a bucket before CloudFormation deletes it."""

import aws_cdk as cdk
from aws_cdk import aws_logs as logs
from constructs import Construct

from constructs.hyperpod.cdk_internals import find_internal

# The id of the provider that `auto_delete_objects` adds to a stack.
PROVIDER = "Custom::S3AutoDeleteObjectsCustomResourceProvider"


def define_auto_delete_logs(scope: Construct) -> None:
    """Define a log group that is deleted with the stack, and remove the function's right to create another.

    By default Lambda creates the group, without expiry and outside the stack, so each destroyed cluster would leave one behind.
    All buckets of a stack share the function: call this once per stack.
    """
    group = logs.LogGroup(scope, "EmptyingLogs", retention=logs.RetentionDays.ONE_MONTH, removal_policy=cdk.RemovalPolicy.DESTROY)
    function = find_internal(scope, cdk.CfnResource, PROVIDER, "Handler")
    function.add_property_override("LoggingConfig", {"LogGroup": group.log_group_name})
    role = find_internal(scope, cdk.CfnResource, PROVIDER, "Role")
    role.add_property_deletion_override("ManagedPolicyArns")
    role.add_property_override("Policies", [_write_to(group)])


def auto_delete_role_arn(scope: Construct) -> str:
    """Return the ARN of the function's role."""
    return find_internal(scope, cdk.CustomResourceProviderBase, PROVIDER).role_arn


def _write_to(group: logs.ILogGroup) -> dict[str, object]:
    statement = {
        "Sid": "WriteLogs",
        "Effect": "Allow",
        "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
        "Resource": group.log_group_arn,
    }
    return {"PolicyName": "Logs", "PolicyDocument": {"Version": "2012-10-17", "Statement": [statement]}}
