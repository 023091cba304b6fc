"""Define the storage section."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import StrictBool, StrictInt, StringConstraints

from config.section import Change, Removal, Section, setting

BucketName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(\.[a-z0-9]+|-+[a-z0-9]+)*$", min_length=3, max_length=63)]
DEFAULT_HOMES = "/fsx/home"


class DeploymentType(StrEnum):
    """FSx for Lustre's persistent deployment types."""

    PERSISTENT_1 = "PERSISTENT_1"
    PERSISTENT_2 = "PERSISTENT_2"


class Compression(StrEnum):
    """FSx for Lustre's data compression."""

    LZ4 = "LZ4"
    NONE = "NONE"


class FileEvent(StrEnum):
    """A file event that is imported or exported."""

    NEW = "NEW"
    CHANGED = "CHANGED"
    DELETED = "DELETED"


class DataRepositoryAssociation(Section):
    """A link between a directory of the file system and a bucket prefix."""

    path: str = setting(
        "directory of the file system, e.g. `/data`",
        Change.IN_TWO_DEPLOYMENTS,
        pattern=r"^/([^/\r\n]+(/[^/\r\n]+)*)?$",
        max_length=900,
        api="fsx:CreateDataRepositoryAssociation FileSystemPath",
    )
    bucket: BucketName | None = setting(
        "existing bucket in the same region; default: the data bucket",
        Change.IN_TWO_DEPLOYMENTS,
        None,
        api="fsx:CreateDataRepositoryAssociation DataRepositoryPath",
    )
    prefix: str = setting(
        "prefix in the bucket, without leading and trailing slashes",
        Change.IN_TWO_DEPLOYMENTS,
        "",
        pattern=r"^([^/](.*[^/])?)?$",
        max_length=900,
        api="fsx:CreateDataRepositoryAssociation DataRepositoryPath",
    )
    import_metadata_on_create: StrictBool = setting(
        "import the metadata of the bucket's objects at creation",
        Change.IN_TWO_DEPLOYMENTS,
        default=True,
        api="fsx:CreateDataRepositoryAssociation BatchImportMetaDataOnCreate",
    )
    imported_file_chunk_size_mib: StrictInt = setting(
        "maximum amount of data of an imported file on one disk, in MiB",
        Change.IN_PLACE,
        1024,
        ge=1,
        le=512000,
        api="fsx:CreateDataRepositoryAssociation ImportedFileChunkSize",
    )
    auto_import: tuple[FileEvent, ...] = setting(
        "changes in the bucket to import automatically; `[]` imports none",
        Change.IN_PLACE,
        tuple(FileEvent),
        max_length=3,
        api="fsx:CreateDataRepositoryAssociation S3.AutoImportPolicy.Events",
    )
    auto_export: tuple[FileEvent, ...] = setting(
        "changes in the file system to export automatically; `[]` exports none",
        Change.IN_PLACE,
        tuple(FileEvent),
        max_length=3,
        api="fsx:CreateDataRepositoryAssociation S3.AutoExportPolicy.Events",
    )


class FileSystem(Section):
    """A file system that every node mounts."""

    mount_path: ClassVar[str]


class LustreConfig(FileSystem):
    """A new FSx for Lustre file system, mounted at /fsx on every node."""

    mount_path = "/fsx"

    deployment_type: DeploymentType = setting(
        "PERSISTENT_2, or PERSISTENT_1 in regions without it",
        Change.REPLACES_FILE_SYSTEM,
        DeploymentType.PERSISTENT_2,
        api="fsx:CreateFileSystem LustreConfiguration.DeploymentType",
    )
    storage_capacity_gib: StrictInt = setting(
        "1200 or a multiple of 2400; can only be increased",
        Change.IN_PLACE,
        1200,
        ge=1200,
        le=2147481600,
        api="fsx:CreateFileSystem StorageCapacity",
    )
    throughput_mbps_per_tib: StrictInt = setting(
        "MB/s per TiB: 125, 250, 500 or 1000 with PERSISTENT_2; 50, 100 or 200 with PERSISTENT_1; the FSx API can "
        "change it in place",
        Change.REPLACES_FILE_SYSTEM,
        250,
        ge=50,
        le=1000,
        api="fsx:CreateFileSystem LustreConfiguration.PerUnitStorageThroughput",
    )
    version: str = setting(
        "Lustre version, in quotes",
        Change.REPLACES_FILE_SYSTEM,
        "2.15",
        pattern=r"^2\.(10|12|15)$",
        api="fsx:CreateFileSystem FileSystemTypeVersion",
    )
    compression: Compression = setting(
        "data compression",
        Change.IN_PLACE,
        Compression.LZ4,
        api="fsx:CreateFileSystem LustreConfiguration.DataCompressionType",
    )
    removal: Removal = setting("effect of `cdk destroy`", Change.IN_PLACE, Removal.RETAIN)


class ExistingFileSystem(FileSystem):
    """An existing FSx for Lustre file system in the same zone, reachable from the nodes."""

    mount_path = "/fsx"

    file_system_id: str = setting("id of the file system", Change.NEW_NODES, pattern=r"^fs-[0-9a-f]{8,17}$")
    mount_name: str = setting("mount name of the file system", Change.NEW_NODES, pattern=r"^[A-Za-z0-9_-]{1,8}$")
    efa: StrictBool = setting(
        "whether the file system is EFA-enabled; nodes with EFA then use EFA, with TCP as fallback; requires `slurm.setup: "
        "scripts`",
        Change.NEW_NODES,
        default=False,
    )


class OpenZfsConfig(FileSystem):
    """An existing FSx for OpenZFS file system; every node mounts its volume `/fsx` at /home."""

    mount_path = "/home"

    dns_name: str = setting(
        "DNS name of the file system, whose security group must allow the nodes",
        Change.NEW_NODES,
        pattern=r"^fs-[0-9a-f]{8,17}\.fsx\.[a-z0-9-]+(\.[a-z0-9-]+)+$",
    )


class NodeAccess(StrEnum):
    """The access of nodes to the data bucket."""

    NONE = "none"
    READ = "read"
    WRITE = "write"


class DataBucketConfig(Section):
    """The default bucket of data repository associations."""

    existing: BucketName | None = setting("existing bucket, which is never changed or deleted", Change.IN_TWO_DEPLOYMENTS, None)
    removal: Removal = setting("effect of `cdk destroy` on a created bucket", Change.IN_PLACE, Removal.RETAIN)
    node_access: NodeAccess = setting(
        "access of the node role to all objects of the bucket: `read` lists and reads them, `write` also writes and deletes "
        "them; allow a KMS key of an existing bucket in `node_role` and in the key policy",
        Change.IN_PLACE,
        NodeAccess.NONE,
    )


class StorageConfig(Section):
    """File systems and buckets."""

    lustre: LustreConfig | None = setting("new file system", Change.REPLACES_FILE_SYSTEM, None)
    existing: ExistingFileSystem | None = setting("existing file system to use instead of `lustre`", Change.NEW_NODES, None)
    openzfs: OpenZfsConfig | None = setting("file system for home directories, instead of `homes`", Change.NEW_NODES, None)
    homes: str = setting(
        "folder of the home directories on the Lustre file system; AWS's lifecycle scripts use `/fsx`",
        Change.NEW_NODES,
        DEFAULT_HOMES,
        pattern=r"^/fsx(/[a-zA-Z0-9_-][a-zA-Z0-9._-]*)*$",
        max_length=200,
    )
    data_bucket: DataBucketConfig = setting("default bucket of the associations", Change.IN_PLACE, DataBucketConfig())
    data_repository_associations: tuple[DataRepositoryAssociation, ...] = setting(
        "links between directories and buckets", Change.IN_PLACE, (), max_length=8
    )

    @property
    def file_systems(self) -> tuple[FileSystem, ...]:
        """Return the file systems that nodes mount, new and existing."""
        return tuple(each for each in (self.lustre, self.existing, self.openzfs) if each is not None)

    @property
    def created_file_systems(self) -> Mapping[str, LustreConfig]:
        """Return the file systems that the stack creates, by the field that defines them."""
        return {"lustre": self.lustre} if self.lustre else {}

    @property
    def retains_file_systems(self) -> bool:
        """Return whether a created file system outlives `cdk destroy`."""
        return any(each.removal is Removal.RETAIN for each in self.created_file_systems.values())
