"""The bucket of a cluster's scripts."""

import aws_cdk as cdk
from aws_cdk import aws_s3 as s3
from constructs import Construct

from config.bucket_names import script_bucket_name
from config.model import ClusterConfig
from config.section import Removal
from constructs.hyperpod.acknowledged import acknowledge
from constructs.hyperpod.emptying import log_emptying
from constructs.hyperpod.removal import removal_policy


class ScriptBucket(s3.Bucket):
    """Define a private bucket that holds nothing but scripts, and is emptied and deleted with the stack, as the cluster is.

    It is not versioned: the content of a prefix never changes.
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
            removal_policy=removal_policy(config.removal),
            auto_delete_objects=config.removal is Removal.DESTROY,
        )
        if config.removal is Removal.DESTROY:
            log_emptying(scope)
        acknowledge(
            self,
            "S1",
            "only the deployment writes here and only the nodes' role reads; access logs would need a second bucket that "
            "outlives the cluster, and CloudTrail data events record the same calls",
        )

    @property
    def scripts_arn(self) -> str:
        """The ARN of all scripts, with a wildcard."""
        return self.arn_for_objects(f"{self.FOLDER}/*")
