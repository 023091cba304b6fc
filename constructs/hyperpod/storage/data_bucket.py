"""The bucket of a cluster's data."""

from typing import cast

import aws_cdk as cdk
from aws_cdk import aws_s3 as s3
from constructs import Construct

from config.section import Removal
from config.storage import DataBucketConfig
from constructs.hyperpod.emptying import log_emptying
from constructs.hyperpod.nag import acknowledge
from constructs.hyperpod.removal import removal_policy


class DataBucket(Construct):
    """Define the bucket that the file system is linked to, or take one that is there and change nothing of it."""

    def __init__(self, scope: Construct, id: str, *, config: DataBucketConfig) -> None:
        super().__init__(scope, id)
        self._bucket_name = config.existing or self._define(config.removal).bucket_name

    @property
    def bucket_name(self) -> str:
        """The bucket's name."""
        return self._bucket_name

    def _define(self, removal: Removal) -> s3.Bucket:
        bucket = s3.Bucket(
            self,
            "Resource",
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            versioned=True,
            lifecycle_rules=[
                s3.LifecycleRule(
                    id="ExpireWhatNothingRefersTo",
                    # Training writes its checkpoints again and again; a month is time to notice a mistake.
                    noncurrent_version_expiration=cdk.Duration.days(30),
                    abort_incomplete_multipart_upload_after=cdk.Duration.days(7),
                )
            ],
            removal_policy=removal_policy(removal),
            auto_delete_objects=removal is Removal.DESTROY,
        )
        # A bucket that stays keeps its policy, which asks for TLS.
        cast("s3.BucketPolicy", bucket.policy).apply_removal_policy(removal_policy(removal))
        acknowledge(
            bucket,
            "S1",
            "who may reach the bucket is the FSx service alone (no principal of this project is granted access); access logs "
            "would need a second bucket that outlives the cluster, and CloudTrail data events record the same calls",
        )
        if removal is Removal.DESTROY:
            log_emptying(self)
        return bucket
