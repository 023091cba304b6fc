"""The bucket of a cluster's scripts."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from config.bucket_names import script_bucket_name
from config.model import ClusterConfig
from config.section import Removal
from constructs.hyperpod.emptying import emptying_role_arn, log_emptying
from constructs.hyperpod.nag import acknowledge
from constructs.hyperpod.removal import removal_policy

# What could open the bucket to other writers, or change what is stored in it.
RECONFIGURATION = (
    "s3:PutBucketAcl",
    "s3:PutBucketCORS",
    "s3:PutBucketOwnershipControls",
    "s3:PutBucketPolicy",
    "s3:PutBucketPublicAccessBlock",
    "s3:PutBucketVersioning",
    "s3:PutEncryptionConfiguration",
    "s3:PutLifecycleConfiguration",
    "s3:PutReplicationConfiguration",
)


class ScriptBucket(s3.Bucket):
    """Define a private bucket for the scripts only; it is emptied and deleted with the stack, as the cluster is.

    Nodes run its scripts as root, and AWS managed policies such as AmazonSageMakerCanvasFullAccess let their holders write to
    every bucket with ``sagemaker`` in its name. So the bucket's policy denies writes to every principal but those that need them.
    """

    FOLDER = "lifecycle"

    def __init__(self, scope: Construct, id: str, *, config: ClusterConfig) -> None:
        stack = cdk.Stack.of(scope)
        super().__init__(
            scope,
            id,
            bucket_name=script_bucket_name(config.name, stack.account, stack.region),
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            versioned=True,
            lifecycle_rules=[
                s3.LifecycleRule(
                    id="ExpireNoncurrentVersions",
                    # Old prefixes stay, as running nodes refer to them. Only what was overwritten or deleted expires.
                    noncurrent_version_expiration=cdk.Duration.days(30),
                    expired_object_delete_marker=True,
                    abort_incomplete_multipart_upload_after=cdk.Duration.days(7),
                )
            ],
            removal_policy=removal_policy(config.removal),
            auto_delete_objects=config.removal is Removal.DESTROY,
        )
        self._is_emptied = config.removal is Removal.DESTROY
        if self._is_emptied:
            log_emptying(scope)
        acknowledge(
            self,
            "S1",
            "the bucket policy denies writes to all roles but the deployment's and the emptying function's; access logs would "
            "need a second bucket that outlives the cluster, and CloudTrail data events record the same calls",
        )

    @property
    def scripts_arn(self) -> str:
        """The ARN of all scripts, with a wildcard."""
        return self.arn_for_objects(f"{self.FOLDER}/*")

    def restrict_writes(self, writer: iam.IRole) -> None:
        """Let only ``writer`` write, only the emptying function delete, and only CloudFormation change the bucket."""
        emptying = [emptying_role_arn(self)] if self._is_emptied else []
        objects = self.arn_for_objects("*")
        self._deny("DenyWritesExceptDeployment", ["s3:PutObject*", "s3:Replicate*"], objects, _unless([writer.role_arn]))
        self._deny("DenyDeletionsExceptEmptying", ["s3:DeleteObject*"], objects, _unless(emptying))
        # An administrator deletes the policy of a bucket that is kept, and then the bucket.
        actions = [*RECONFIGURATION, *(["s3:DeleteBucketPolicy"] if self._is_emptied else [])]
        self._deny("DenyReconfigurationExceptCloudFormation", actions, self.bucket_arn, self._unless_by_cloudformation(emptying))

    def _unless_by_cloudformation(self, others: Sequence[str]) -> dict[str, dict[str, object]]:
        """Return the condition that neither CloudFormation acts, in its role of a bootstrap or another one, nor the root user."""
        stack = cdk.Stack.of(self)
        account = f"arn:{stack.partition}:iam::{stack.account}"
        # Whatever its service role, CloudFormation calls the session so: https://github.com/aws/aws-cdk/issues/8571 shows one.
        session = "*:AWSCloudFormation"
        names = [f"{account}:role/cdk-*-cfn-exec-role-*", f"{account}:root", *others]
        return {"ArnNotLike": {"aws:PrincipalArn": names}, "StringNotLike": {"aws:userid": session}}

    def _deny(self, sid: str, actions: Sequence[str], resource: str, conditions: dict[str, dict[str, object]]) -> None:
        self.add_to_resource_policy(
            iam.PolicyStatement(
                sid=sid,
                effect=iam.Effect.DENY,
                principals=[iam.AnyPrincipal()],
                actions=list(actions),
                resources=[resource],
                conditions=conditions,
            )
        )


def _unless(roles: Sequence[str]) -> dict[str, dict[str, object]]:
    """Return the condition that a principal is none of the roles."""
    return {"ArnNotEquals": {"aws:PrincipalArn": list(roles)}} if roles else {}
