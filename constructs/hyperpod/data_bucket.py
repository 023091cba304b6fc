"""The bucket that the file system is linked to."""

from constructs import Construct

from config.storage import DataBucketConfig
from constructs.hyperpod.private_bucket import private_bucket

WHY_NO_ACCESS_LOGS = (
    "server access logs of training data cost more than they tell; CloudTrail's data events are the user's choice"
)


class DataBucket(Construct):
    """Define the data bucket, versioned; or take an existing one and leave it as it is."""

    def __init__(self, scope: Construct, id: str, *, config: DataBucketConfig) -> None:
        super().__init__(scope, id)
        self.bucket_name: str = config.existing or self._create(config)

    def _create(self, config: DataBucketConfig) -> str:
        bucket = private_bucket(self, "Resource", removal=config.removal, versioned=True, why_no_access_logs=WHY_NO_ACCESS_LOGS)
        return bucket.bucket_name
