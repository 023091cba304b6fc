"""Define the data bucket of a cluster."""

from typing import cast

import aws_cdk as cdk
from aws_cdk import aws_s3 as s3
from constructs import Construct

from config.section import Removal
from config.storage import DataBucketConfig
from constructs.hyperpod.auto_delete_logs import define_auto_delete_logs
from constructs.hyperpod.nag import acknowledge
from constructs.hyperpod.removal_policy import removal_policy


class DataBucket(Construct):
    """Define the bucket linked to the file system, or use an existing bucket unchanged."""

    def __init__(self, scope: Construct, id: str, *, config: DataBucketConfig) -> None:
        super().__init__(scope, id)
        self._bucket_name = config.existing or self._define(config.removal).bucket_name

    @property
    def bucket_name(self) -> str:
        """The name of the bucket."""
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
                    id="ExpireNoncurrentVersions",
                    # Training overwrites checkpoints often; 30 days are enough to notice a mistake.
                    noncurrent_version_expiration=cdk.Duration.days(30),
                    abort_incomplete_multipart_upload_after=cdk.Duration.days(7),
                )
            ],
            removal_policy=removal_policy(removal),
            auto_delete_objects=removal is Removal.DESTROY,
        )
        # A retained bucket keeps its policy, which requires TLS.
        cast("s3.BucketPolicy", bucket.policy).apply_removal_policy(removal_policy(removal))
        acknowledge(
            bucket,
            "S1",
            "only the FSx service accesses the bucket, and nodes if `node_access` allows it; access logs would need a second "
            "bucket that outlives the cluster, and CloudTrail data events record the same calls",
        )
        if removal is Removal.DESTROY:
            define_auto_delete_logs(self)
        return bucket
