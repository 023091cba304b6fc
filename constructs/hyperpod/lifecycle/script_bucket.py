"""Define the bucket of the lifecycle scripts."""

from collections.abc import Sequence
from typing import cast

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from config.bucket_names import CLOUDFORMATION_ROLE, script_bucket_name
from config.model import ClusterConfig
from config.section import Removal
from constructs.hyperpod.private_bucket import PrivateBucket, auto_delete_role_arn

# Actions that could open the bucket to other writers, change its objects or keep nodes from reading them.
RECONFIGURATION = (
    "s3:DeleteBucketPolicy",
    "s3:PutBucketAcl",
    "s3:PutBucketCORS",
    "s3:PutBucketObjectLockConfiguration",
    "s3:PutBucketOwnershipControls",
    "s3:PutBucketPolicy",
    "s3:PutBucketPublicAccessBlock",
    "s3:PutBucketRequestPayment",
    "s3:PutBucketVersioning",
    "s3:PutEncryptionConfiguration",
    "s3:PutLifecycleConfiguration",
    "s3:PutReplicationConfiguration",
)
# The last one can encrypt a script with a key that nodes may not use.
WRITES = ("s3:PutObject*", "s3:Replicate*", "s3:UpdateObjectEncryption")


class ScriptBucket(PrivateBucket):
    """Define a private bucket for the scripts; it follows the cluster's removal policy.

    Nodes run the scripts as root, and AWS managed policies such as AmazonSageMakerCanvasFullAccess allow writes to every bucket
    with ``sagemaker`` in its name. So the bucket policy denies writes to all principals that do not need them.
    """

    FOLDER = "lifecycle"

    def __init__(self, scope: Construct, id: str, *, config: ClusterConfig) -> None:
        stack = cdk.Stack.of(scope)
        super().__init__(
            scope,
            id,
            removal=config.removal,
            access="the bucket policy restricts writes to the deployment and auto-delete functions",
            bucket_name=script_bucket_name(config.name, stack.account, stack.region),
            # Old prefixes stay, because running nodes refer to them. Overwritten and deleted objects expire.
            expired_object_delete_marker=True,
        )
        self._auto_delete = config.removal is Removal.DESTROY

    @property
    def scripts_arn(self) -> str:
        """The ARN of all scripts, ending in a wildcard."""
        return self.arn_for_objects(f"{self.FOLDER}/*")

    def restrict_writes(self, writer: iam.IRole) -> None:
        """Allow only ``writer`` to write, the auto-delete function to delete and CloudFormation to configure the bucket."""
        deleters = [auto_delete_role_arn(self)] if self._auto_delete else []
        objects = self.arn_for_objects("*")
        others = self._unless_by_cloudformation(deleters)
        cast("s3.BucketPolicy", self.policy).document.add_statements(
            _deny("DenyWritesExceptDeployment", WRITES, objects, _unless([writer.role_arn])),
            _deny("DenyDeletesExceptAutoDelete", ["s3:DeleteObject*"], objects, _unless(deleters)),
            _deny("DenyReconfigurationExceptCloudFormation", RECONFIGURATION, self.bucket_arn, others),
        )

    def _unless_by_cloudformation(self, others: Sequence[str]) -> dict[str, dict[str, object]]:
        """Return the condition that the principal is neither the bootstrap's role of CloudFormation nor the root user.

        CloudFormation's session name proves nothing: who assumes a role chooses it.
        """
        stack = cdk.Stack.of(self)
        account = f"arn:{stack.partition}:iam::{stack.account}"
        return {"ArnNotLike": {"aws:PrincipalArn": [f"{account}:role/{CLOUDFORMATION_ROLE}", f"{account}:root", *others]}}


def _deny(sid: str, actions: Sequence[str], resource: str, conditions: dict[str, dict[str, object]]) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        sid=sid,
        effect=iam.Effect.DENY,
        principals=[iam.AnyPrincipal()],
        actions=list(actions),
        resources=[resource],
        conditions=conditions,
    )


def _unless(roles: Sequence[str]) -> dict[str, dict[str, object]]:
    """Return the condition that a principal is none of the roles."""
    return {"ArnNotEquals": {"aws:PrincipalArn": list(roles)}} if roles else {}
