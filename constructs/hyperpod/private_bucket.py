"""Define private buckets, with logs for the CDK function that empties a bucket before CloudFormation deletes it."""

import aws_cdk as cdk
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from constructs import Construct

from config.section import Removal
from constructs.hyperpod.cdk_internals import find_internal
from constructs.hyperpod.nag import acknowledge
from constructs.hyperpod.removal_policy import removal_policy

# The id of the provider that `auto_delete_objects` adds to a stack.
PROVIDER = "Custom::S3AutoDeleteObjectsCustomResourceProvider"


class PrivateBucket(s3.Bucket):
    """Define a private bucket that is emptied and deleted with its stack, unless the file retains it.

    ``access`` says who has access, for reviewers of the finding that the bucket has no access logs.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        removal: Removal,
        access: str,
        bucket_name: str | None = None,
        expired_object_delete_marker: bool | None = None,
    ) -> None:
        super().__init__(
            scope,
            id,
            bucket_name=bucket_name,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            versioned=True,
            lifecycle_rules=[
                s3.LifecycleRule(
                    id="ExpireNoncurrentVersions",
                    # Training overwrites checkpoints often; 30 days are enough to notice a mistake.
                    noncurrent_version_expiration=cdk.Duration.days(30),
                    expired_object_delete_marker=expired_object_delete_marker,
                    abort_incomplete_multipart_upload_after=cdk.Duration.days(7),
                )
            ],
            removal_policy=removal_policy(removal),
            auto_delete_objects=removal is Removal.DESTROY,
        )
        acknowledge(
            self,
            "S1",
            f"{access}; access logs would need a second bucket that outlives the cluster, and CloudTrail data events record the "
            "same calls",
        )
        if removal is Removal.DESTROY:
            _define_logs(scope)


def auto_delete_role_arn(scope: Construct) -> str:
    """Return the ARN of the role of the function that empties buckets."""
    return find_internal(scope, cdk.CustomResourceProviderBase, PROVIDER).role_arn


def _define_logs(scope: Construct) -> None:
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


def _write_to(group: logs.ILogGroup) -> dict[str, object]:
    statement = {
        "Sid": "WriteLogs",
        "Effect": "Allow",
        "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
        "Resource": group.log_group_arn,
    }
    return {"PolicyName": "Logs", "PolicyDocument": {"Version": "2012-10-17", "Statement": [statement]}}
