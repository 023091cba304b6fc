"""Define the storage of a cluster."""

import aws_cdk as cdk
from constructs import Construct

from config.fingerprint import fingerprint
from config.storage import StorageConfig
from constructs.hyperpod.network.network import Network
from constructs.hyperpod.storage.data_bucket import DataBucket
from constructs.hyperpod.storage.data_repository_association import DataRepositoryAssociation
from constructs.hyperpod.storage.lustre_file_system import ImportedLustreFileSystem, LustreFileSystem


class SharedStorage(Construct):
    """Define the file system that every node mounts, its data bucket and the associations between them."""

    def __init__(self, scope: Construct, id: str, *, config: StorageConfig, network: Network) -> None:
        super().__init__(scope, id)
        needs_bucket = any(association.bucket is None for association in config.data_repository_associations)
        self._data_bucket = DataBucket(self, "DataBucket", config=config.data_bucket) if needs_bucket else None
        self._lustre = self._lustre_file_system(config, network)
        links = Construct(self, "Associations")
        for association in config.data_repository_associations:
            DataRepositoryAssociation(
                links,
                association.path.strip("/") or "Root",
                config=association,
                file_system_id=str(self.file_system_id),
                bucket_name=str(association.bucket or self.data_bucket_name),
            )
        if self._data_bucket:
            # Delete associations before the bucket is emptied, or they would delete the same files from a retained file system.
            links.node.add_dependency(self._data_bucket)

    @property
    def data_bucket_name(self) -> str | None:
        """The name of the default bucket of associations; None if none uses it."""
        return self._data_bucket.bucket_name if self._data_bucket else None

    @property
    def file_system_id(self) -> str | None:
        """The ID of the file system, if any."""
        return self._lustre.file_system_id if self._lustre else None

    @property
    def mount_name(self) -> str | None:
        """The mount name of the file system, if any."""
        return self._lustre.mount_name if self._lustre else None

    @property
    def dns_name(self) -> str | None:
        """The DNS name of the file system, if any."""
        return self._lustre.dns_name if self._lustre else None

    @property
    def identity(self) -> str:
        """A hash that changes when the file system is replaced; part of the scripts' prefix."""
        return self._lustre.identity if self._lustre else fingerprint(None, None)

    def _lustre_file_system(self, config: StorageConfig, network: Network) -> LustreFileSystem | ImportedLustreFileSystem | None:
        if config.lustre:
            return LustreFileSystem(self, "Lustre", config=config.lustre, network=network)
        return ImportedLustreFileSystem(cdk.Stack.of(self), config.existing) if config.existing else None
