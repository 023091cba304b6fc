"""Define the storage of a cluster: file system, data bucket and the associations between them."""

from typing import cast

import aws_cdk as cdk
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_s3 as s3
from constructs import Construct

from config.fingerprint import fingerprint
from config.section import Removal
from config.storage import DataBucketConfig, ExistingFileSystem, LustreConfig, StorageConfig
from config.storage import DataRepositoryAssociation as AssociationConfig
from config.tags import NETWORK_TAG
from constructs.hyperpod.network.network import Network
from constructs.hyperpod.private_bucket import PrivateBucket
from constructs.hyperpod.removal_policy import removal_policy


class SharedStorage(Construct):
    """Define the file system that every node mounts, its data bucket and the associations between them.

    ``identity`` is a hash that changes when the file system is replaced; it is part of the scripts' prefix.
    """

    def __init__(self, scope: Construct, id: str, *, config: StorageConfig, network: Network) -> None:
        super().__init__(scope, id)
        needs_bucket = any(association.bucket is None for association in config.data_repository_associations)
        bucket = DataBucket(self, "DataBucket", config=config.data_bucket) if needs_bucket else None
        self.data_bucket_name = bucket.bucket_name if bucket else None
        lustre = self._lustre_file_system(config, network)
        self.file_system_id = lustre.file_system_id if lustre else None
        self.mount_name = lustre.mount_name if lustre else None
        self.dns_name = lustre.dns_name if lustre else None
        self.identity = lustre.identity if lustre else fingerprint(None, None)
        links = Construct(self, "Associations")
        for association in config.data_repository_associations:
            DataRepositoryAssociation(
                links,
                association.path.strip("/") or "Root",
                config=association,
                file_system_id=str(self.file_system_id),
                bucket_name=str(association.bucket or self.data_bucket_name),
            )
        if bucket:
            # Delete associations before the bucket is emptied, or they would delete the same files from a retained file system.
            links.node.add_dependency(bucket)

    def _lustre_file_system(
        self, config: StorageConfig, network: Network
    ) -> "LustreFileSystem | ImportedLustreFileSystem | None":
        if config.lustre:
            return LustreFileSystem(self, "Lustre", config=config.lustre, network=network)
        return ImportedLustreFileSystem(cdk.Stack.of(self), config.existing) if config.existing else None


class LustreFileSystem(Construct):
    """Define an FSx for Lustre file system in the nodes' subnet and security group."""

    def __init__(self, scope: Construct, id: str, *, config: LustreConfig, network: Network) -> None:
        super().__init__(scope, id)
        # Fields whose change replaces the file system. FSx can change throughput in place, but CloudFormation does not.
        self.identity = fingerprint(network.identity, config.deployment_type, config.version, config.throughput_mbps_per_tib)
        file_system = fsx.CfnFileSystem(
            self,
            "Resource",
            file_system_type="LUSTRE",
            file_system_type_version=config.version,
            storage_type="SSD",
            storage_capacity=config.storage_capacity_gib,
            subnet_ids=network.node_subnet_ids[:1],
            security_group_ids=[network.security_group_id],
            lustre_configuration=fsx.CfnFileSystem.LustreConfigurationProperty(
                deployment_type=config.deployment_type.value,
                per_unit_storage_throughput=config.throughput_mbps_per_tib,
                data_compression_type=config.compression.value,
                # FSx supports no backups of file systems with data repository associations.
                automatic_backup_retention_days=0,
            ),
            tags=[cdk.CfnTag(key=NETWORK_TAG, value=network.identity)],
        )
        cdk.Tags.of(file_system).add("Name", self.node.path)
        file_system.apply_removal_policy(removal_policy(config.removal))
        # On creation FSx checks the Lustre port and refuses a group without self rules (InvalidNetworkSettings, port 988).
        file_system.node.add_dependency(network)
        self.file_system_id = file_system.ref
        self.dns_name = file_system.attr_dns_name
        self.mount_name = file_system.attr_lustre_mount_name


class ImportedLustreFileSystem:
    """An existing FSx for Lustre file system."""

    def __init__(self, stack: cdk.Stack, config: ExistingFileSystem) -> None:
        self.file_system_id = config.file_system_id
        self.mount_name = config.mount_name
        self.dns_name = f"{config.file_system_id}.fsx.{stack.region}.{stack.url_suffix}"
        self.identity = fingerprint(config.file_system_id, config.mount_name)


class DataBucket(Construct):
    """Define the bucket linked to the file system, or use an existing bucket unchanged."""

    def __init__(self, scope: Construct, id: str, *, config: DataBucketConfig) -> None:
        super().__init__(scope, id)
        self.bucket_name = config.existing or self._define(config.removal).bucket_name

    def _define(self, removal: Removal) -> s3.Bucket:
        access = "only the FSx service accesses the bucket, and nodes if `node_access` allows it"
        bucket = PrivateBucket(self, "Resource", removal=removal, access=access)
        # A retained bucket keeps its policy, which requires TLS.
        cast("s3.BucketPolicy", bucket.policy).apply_removal_policy(removal_policy(removal))
        return bucket


class DataRepositoryAssociation(Construct):
    """Define a link between a directory of the file system and a prefix of a bucket.

    It is deleted with the stack, even if file system and bucket are retained. Their data stays, and the next deployment links
    them again.
    """

    def __init__(self, scope: Construct, id: str, *, config: AssociationConfig, file_system_id: str, bucket_name: str) -> None:
        super().__init__(scope, id)
        imported = [event.value for event in config.auto_import]
        exported = [event.value for event in config.auto_export]
        fsx.CfnDataRepositoryAssociation(
            self,
            "Resource",
            file_system_id=file_system_id,
            file_system_path=config.path,
            data_repository_path=f"s3://{bucket_name}/{config.prefix}",
            batch_import_meta_data_on_create=config.import_metadata_on_create,
            imported_file_chunk_size=config.imported_file_chunk_size_mib,
            s3=fsx.CfnDataRepositoryAssociation.S3Property(
                auto_import_policy=fsx.CfnDataRepositoryAssociation.AutoImportPolicyProperty(events=imported)
                if imported
                else None,
                auto_export_policy=fsx.CfnDataRepositoryAssociation.AutoExportPolicyProperty(events=exported)
                if exported
                else None,
            ),
        )
