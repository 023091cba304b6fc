"""Where data lives: the file system that every node mounts, and the buckets that it is linked to."""

from aws_cdk import Aws, RemovalPolicy, Tags
from aws_cdk import aws_fsx as fsx
from constructs import Construct

from config.section import Removal
from config.storage import DataRepositoryAssociation, ExistingFileSystem, LustreConfig, StorageConfig
from constructs.hyperpod.data_bucket import DataBucket
from constructs.hyperpod.identity import identity_of
from constructs.hyperpod.network import Network

NETWORK_TAG = "hyperpod-cdk:network"


class SharedStorage(Construct):
    """Define the FSx for Lustre file system of a cluster and its data repository associations, or take an existing one.

    The file system's tag carries the network's identity, so that a replaced subnet or security group reaches it (ADR 3).
    """

    def __init__(self, scope: Construct, id: str, *, config: StorageConfig, network: Network) -> None:
        super().__init__(scope, id)
        self._config, self._network = config, network
        self.file_system_id: str | None = None
        self.dns_name: str | None = None
        self.mount_name: str | None = None
        if config.existing:
            self._use(config.existing)
        elif config.lustre:
            self._create(config.lustre)
        self.data_bucket_name = self._data_bucket()
        for association in config.data_repository_associations:
            self._associate(association)

    @property
    def identity(self) -> str:
        """Changes when the file system is replaced by another."""
        if self._config.existing:
            return identity_of(self._config.existing.file_system_id)
        lustre = self._config.lustre
        return identity_of(lustre and (lustre.deployment_type, lustre.version), self._network.identity)

    def _data_bucket(self) -> str | None:
        """The bucket of the associations that name none; where each names its own, there is no further one."""
        if all(association.bucket for association in self._config.data_repository_associations):
            return None
        return DataBucket(self, "DataBucket", config=self._config.data_bucket).bucket_name

    def _use(self, existing: ExistingFileSystem) -> None:
        self.file_system_id = existing.file_system_id
        self.dns_name = f"{existing.file_system_id}.fsx.{Aws.REGION}.{Aws.URL_SUFFIX}"
        self.mount_name = existing.mount_name

    def _create(self, config: LustreConfig) -> None:
        file_system = fsx.CfnFileSystem(
            self,
            "FileSystem",
            file_system_type="LUSTRE",
            file_system_type_version=config.version,
            storage_type="SSD",
            storage_capacity=config.storage_capacity_gib,
            subnet_ids=[self._network.node_subnet_ids[0]],
            security_group_ids=[self._network.security_group_id],
            lustre_configuration=fsx.CfnFileSystem.LustreConfigurationProperty(
                deployment_type=config.deployment_type.value,
                per_unit_storage_throughput=config.throughput_mbps_per_tib,
                data_compression_type=config.compression.value,
            ),
        )
        file_system.apply_removal_policy(RemovalPolicy.RETAIN if config.removal is Removal.RETAIN else RemovalPolicy.DESTROY)
        Tags.of(file_system).add("Name", file_system.node.path)
        Tags.of(file_system).add(NETWORK_TAG, self._network.identity)
        self.file_system_id = file_system.ref
        self.dns_name = file_system.attr_dns_name
        self.mount_name = file_system.attr_lustre_mount_name

    def _associate(self, config: DataRepositoryAssociation) -> None:
        bucket = config.bucket or self.data_bucket_name
        fsx.CfnDataRepositoryAssociation(
            self,
            f"Association{_pascal_case(config.path)}",
            file_system_id=str(self.file_system_id),
            file_system_path=config.path,
            data_repository_path=f"s3://{bucket}/{config.prefix}",
            batch_import_meta_data_on_create=config.import_metadata_on_create,
            imported_file_chunk_size=config.imported_file_chunk_size_mib,
            s3=fsx.CfnDataRepositoryAssociation.S3Property(
                auto_import_policy=fsx.CfnDataRepositoryAssociation.AutoImportPolicyProperty(
                    events=[event.value for event in config.auto_import]
                )
                if config.auto_import
                else None,
                auto_export_policy=fsx.CfnDataRepositoryAssociation.AutoExportPolicyProperty(
                    events=[event.value for event in config.auto_export]
                )
                if config.auto_export
                else None,
            ),
        )


def _pascal_case(path: str) -> str:
    """The domain key of an association as a construct id: `/data/raw` is `DataRaw`, `/` is `Root`."""
    return "".join(part.capitalize() for part in path.strip("/").split("/")) or "Root"
