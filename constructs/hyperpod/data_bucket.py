"""The bucket that the file system is linked to."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_s3 as s3
from constructs import Construct

from config.section import Removal
from config.storage import DataBucketConfig
from constructs.hyperpod.acknowledge import acknowledge


class DataBucket(Construct):
    """Define the data bucket, private, encrypted, versioned and over TLS alone; or take an existing one and leave it as it is."""

    def __init__(self, scope: Construct, id: str, *, config: DataBucketConfig) -> None:
        super().__init__(scope, id)
        if config.existing:
            self.bucket_name: str = config.existing
            return
        destroy = config.removal is Removal.DESTROY
        bucket = s3.Bucket(
            self,
            "Resource",
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            versioned=True,
            removal_policy=RemovalPolicy.DESTROY if destroy else RemovalPolicy.RETAIN,
            auto_delete_objects=destroy,
        )
        acknowledge(
            bucket,
            {
                "AwsSolutions-S1": "server access logs of training data cost more than they tell; CloudTrail data events are the user's choice"
            },
        )
        self.bucket_name = bucket.bucket_name
