"""The storage of one cluster."""

import aws_cdk as cdk
from constructs import Construct

from config.storage import ExistingFileSystem, StorageConfig
from constructs.hyperpod.fingerprint import fingerprint
from constructs.hyperpod.network.network import Network
from constructs.hyperpod.storage.data_bucket import DataBucket
from constructs.hyperpod.storage.data_repository_association import DataRepositoryAssociation
from constructs.hyperpod.storage.lustre_file_system import LustreFileSystem


class SharedStorage(Construct):
    """Define the file system that every node mounts, the bucket of its data, and the links between the two."""

    def __init__(self, scope: Construct, id: str, *, config: StorageConfig, network: Network) -> None:
        super().__init__(scope, id)
        needs_bucket = any(association.bucket is None for association in config.data_repository_associations)
        self._data_bucket = DataBucket(self, "DataBucket", config=config.data_bucket) if needs_bucket else None
        self._lustre = LustreFileSystem(self, "Lustre", config=config.lustre, network=network) if config.lustre else None
        self._existing = config.existing
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
            # A bucket that goes is emptied first, and a link that is still there would delete the same files from a file system
            # that stays.
            links.node.add_dependency(self._data_bucket)

    @property
    def data_bucket_name(self) -> str | None:
        """The name of the bucket of those associations that name no other; None where there are none."""
        return self._data_bucket.bucket_name if self._data_bucket else None

    @property
    def file_system_id(self) -> str | None:
        """The file system's id, if there is one."""
        return self._file_system.file_system_id if self._file_system else None

    @property
    def mount_name(self) -> str | None:
        """The file system's mount name, if there is one."""
        return self._file_system.mount_name if self._file_system else None

    @property
    def dns_name(self) -> str | None:
        """The file system's DNS name, if there is one."""
        if self._lustre:
            return self._lustre.dns_name
        stack = cdk.Stack.of(self)
        return f"{self._existing.file_system_id}.fsx.{stack.region}.{stack.url_suffix}" if self._existing else None

    @property
    def identity(self) -> str:
        """A hash that changes when the file system is replaced; the scripts' prefix carries it."""
        if self._lustre:
            return self._lustre.identity
        return fingerprint(self.file_system_id, self.mount_name)

    @property
    def _file_system(self) -> LustreFileSystem | ExistingFileSystem | None:
        return self._lustre or self._existing
