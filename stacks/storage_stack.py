"""The storage of one cluster."""

from typing import Any

from aws_cdk import CfnOutput, Stack
from constructs import Construct

from config.model import ClusterConfig
from config.section import Removal
from config.storage import StorageConfig
from constructs.hyperpod.network.network import Network
from constructs.hyperpod.storage.shared_storage import SharedStorage
from stacks.placeholder import fill_if_empty


class StorageStack(Stack):
    """Where data lives."""

    def __init__(self, scope: Construct, id: str, *, config: ClusterConfig, network: Network, **kwargs: Any) -> None:
        super().__init__(scope, id, description=f"Storage of HyperPod cluster {config.name}", **kwargs)
        self.storage = SharedStorage(self, "Storage", config=config.storage, network=network)
        fill_if_empty(self)

        for name, value, description in (
            ("FileSystemId", self.storage.file_system_id, "File system that every node mounts at /fsx"),
            ("FileSystemDnsName", self.storage.dns_name, "Its address"),
            ("FileSystemMountName", self.storage.mount_name, "Its mount name"),
            ("DataBucketName", self.storage.data_bucket_name, "Bucket that it is linked to"),
        ):
            if value:
                CfnOutput(self, name, value=value, description=description)
        remains = self._remains(config.storage)
        if remains:
            CfnOutput(
                self, "StorageAfterDestroy", value=remains, description="What cdk destroy leaves, as lines for the next file"
            )

    def _remains(self, config: StorageConfig) -> str:
        storage, kept = self.storage, []
        if config.lustre and config.lustre.removal is Removal.RETAIN:
            kept.append(f"existing: {{file_system_id: {storage.file_system_id}, mount_name: {storage.mount_name}}}")
        if storage.data_bucket_name and not config.data_bucket.existing and config.data_bucket.removal is Removal.RETAIN:
            kept.append(f"data_bucket: {{existing: {storage.data_bucket_name}}}")
        return f"storage: {{{', '.join(kept)}}}" if kept else ""
