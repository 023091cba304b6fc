"""Define a new or existing file system."""

from functools import cached_property

import aws_cdk as cdk
from aws_cdk import aws_fsx as fsx
from constructs import Construct

from config.fingerprint import fingerprint
from config.storage import ExistingFileSystem, LustreConfig
from config.tags import NETWORK_TAG
from constructs.hyperpod.network.network import Network
from constructs.hyperpod.removal_policy import removal_policy


class LustreFileSystem(Construct):
    """Define an FSx for Lustre file system in the nodes' subnet and security group."""

    def __init__(self, scope: Construct, id: str, *, config: LustreConfig, network: Network) -> None:
        super().__init__(scope, id)
        # Fields whose change replaces the file system. FSx can change throughput in place, but CloudFormation does not.
        self._identity = fingerprint(network.identity, config.deployment_type, config.version, config.throughput_mbps_per_tib)
        self._file_system = fsx.CfnFileSystem(
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
        cdk.Tags.of(self._file_system).add("Name", self.node.path)
        self._file_system.apply_removal_policy(removal_policy(config.removal))
        # On creation FSx checks the Lustre port and refuses a group without self rules (InvalidNetworkSettings, port 988).
        self._file_system.node.add_dependency(network)

    @cached_property
    def file_system_id(self) -> str:
        """The ID of the file system."""
        return self._file_system.ref

    @cached_property
    def dns_name(self) -> str:
        """The DNS name of the file system."""
        return self._file_system.attr_dns_name

    @cached_property
    def mount_name(self) -> str:
        """The mount name of the file system."""
        return self._file_system.attr_lustre_mount_name

    @property
    def identity(self) -> str:
        """A hash that changes when the file system is replaced."""
        return self._identity


class ImportedLustreFileSystem:
    """An existing FSx for Lustre file system."""

    def __init__(self, stack: cdk.Stack, config: ExistingFileSystem) -> None:
        self.file_system_id = config.file_system_id
        self.mount_name = config.mount_name
        self.dns_name = f"{config.file_system_id}.fsx.{stack.region}.{stack.url_suffix}"
        self.identity = fingerprint(config.file_system_id, config.mount_name)
