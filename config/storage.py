"""The storage section of a cluster file."""

from enum import StrEnum
from typing import Annotated

from pydantic import StrictBool, StrictInt, StringConstraints

from config.section import Change, Removal, Section, setting

BucketName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(\.[a-z0-9]+|-+[a-z0-9]+)*$", min_length=3, max_length=63)]


class DeploymentType(StrEnum):
    """FSx for Lustre's deployment types that keep their data."""

    PERSISTENT_1 = "PERSISTENT_1"
    PERSISTENT_2 = "PERSISTENT_2"


class Compression(StrEnum):
    """How FSx for Lustre compresses data."""

    LZ4 = "LZ4"
    NONE = "NONE"


class FileEvent(StrEnum):
    """What happened to a file that is imported or exported."""

    NEW = "NEW"
    CHANGED = "CHANGED"
    DELETED = "DELETED"


class DataRepositoryAssociation(Section):
    """A link between a directory of the file system and a prefix of a bucket."""

    path: str = setting(
        "directory on the file system, e.g. `/data`",
        Change.IN_PLACE,
        pattern=r"^/([^/\r\n]+(/[^/\r\n]+)*)?$",
        max_length=900,
        api="fsx:CreateDataRepositoryAssociation FileSystemPath",
    )
    bucket: BucketName | None = setting(
        "an existing bucket in the same region; without it, the data bucket",
        Change.IN_PLACE,
        None,
        api="fsx:CreateDataRepositoryAssociation DataRepositoryPath",
    )
    prefix: str = setting(
        "prefix in the bucket, without slashes at its ends",
        Change.IN_PLACE,
        "",
        pattern=r"^([^/](.*[^/])?)?$",
        max_length=900,
        api="fsx:CreateDataRepositoryAssociation DataRepositoryPath",
    )
    import_metadata_on_create: StrictBool = setting(
        "list the bucket's objects in the file system at once",
        Change.IN_PLACE,
        default=True,
        api="fsx:CreateDataRepositoryAssociation BatchImportMetaDataOnCreate",
    )
    imported_file_chunk_size_mib: StrictInt = setting(
        "how a large file is spread over disks",
        Change.IN_PLACE,
        1024,
        ge=1,
        le=512000,
        api="fsx:CreateDataRepositoryAssociation ImportedFileChunkSize",
    )
    auto_import: tuple[FileEvent, ...] = setting(
        "changes in the bucket that reach the file system; `[]` imports none",
        Change.IN_PLACE,
        tuple(FileEvent),
        max_length=3,
        api="fsx:CreateDataRepositoryAssociation S3.AutoImportPolicy.Events",
    )
    auto_export: tuple[FileEvent, ...] = setting(
        "changes in the file system that reach the bucket; `[]` exports none",
        Change.IN_PLACE,
        tuple(FileEvent),
        max_length=3,
        api="fsx:CreateDataRepositoryAssociation S3.AutoExportPolicy.Events",
    )


class LustreConfig(Section):
    """A new FSx for Lustre file system, mounted at /fsx on every node."""

    deployment_type: DeploymentType = setting(
        "PERSISTENT_2, or PERSISTENT_1 where that is not offered; another one is another file system",
        Change.NEW_NODES,
        DeploymentType.PERSISTENT_2,
        api="fsx:CreateFileSystem LustreConfiguration.DeploymentType",
    )
    storage_capacity_gib: StrictInt = setting(
        "1200, or a multiple of 2400; can grow",
        Change.IN_PLACE,
        1200,
        ge=1200,
        le=2147481600,
        api="fsx:CreateFileSystem StorageCapacity",
    )
    throughput_mbps_per_tib: StrictInt = setting(
        "MB/s per TiB: 125, 250, 500 or 1000 with PERSISTENT_2; 50, 100 or 200 with PERSISTENT_1; another one is another file "
        "system (CloudFormation replaces it; FSx's own API can change it)",
        Change.NEW_NODES,
        250,
        ge=50,
        le=1000,
        api="fsx:CreateFileSystem LustreConfiguration.PerUnitStorageThroughput",
    )
    version: str = setting(
        "Lustre's version; quote it in the file; another one is another file system",
        Change.NEW_NODES,
        "2.15",
        pattern=r"^2\.(10|12|15)$",
        api="fsx:CreateFileSystem FileSystemTypeVersion",
    )
    compression: Compression = setting(
        "how data is compressed",
        Change.IN_PLACE,
        Compression.LZ4,
        api="fsx:CreateFileSystem LustreConfiguration.DataCompressionType",
    )
    removal: Removal = setting("what `cdk destroy` does with it", Change.IN_PLACE, Removal.RETAIN)


class ExistingFileSystem(Section):
    """An FSx for Lustre file system that is there already, in the same zone and reachable from the nodes."""

    file_system_id: str = setting("its id", Change.NEW_NODES, pattern=r"^fs-[0-9a-f]{8,17}$")
    mount_name: str = setting("its mount name", Change.NEW_NODES, pattern=r"^[A-Za-z0-9_-]{1,8}$")
    efa: StrictBool = setting(
        "whether it is EFA-enabled: nodes of types with EFA then reach it over EFA, and over TCP where that fails",
        Change.NEW_NODES,
        default=False,
    )


class OpenZfsConfig(Section):
    """An FSx for OpenZFS file system that is there already, whose volume `/fsx` every node mounts at /home."""

    dns_name: str = setting(
        "its DNS name; its security group must let the nodes in",
        Change.NEW_NODES,
        pattern=r"^fs-[0-9a-f]{8,17}\.fsx\.[a-z0-9-]+(\.[a-z0-9-]+)+$",
    )


class DataBucketConfig(Section):
    """The bucket that the file system is linked to."""

    existing: BucketName | None = setting("use this bucket, and never delete or change it", Change.IN_PLACE, None)
    removal: Removal = setting("what `cdk destroy` does with a bucket of ours", Change.IN_PLACE, Removal.RETAIN)


class StorageConfig(Section):
    """Where data lives."""

    lustre: LustreConfig | None = setting("a new file system", Change.NEW_NODES, None)
    existing: ExistingFileSystem | None = setting(
        "a file system that is there already, instead of `lustre`", Change.NEW_NODES, None
    )
    openzfs: OpenZfsConfig | None = setting(
        "a file system for home directories; without it they are in /fsx/home", Change.NEW_NODES, None
    )
    data_bucket: DataBucketConfig = setting("the data bucket", Change.IN_PLACE, DataBucketConfig())
    data_repository_associations: tuple[DataRepositoryAssociation, ...] = setting(
        "links between directories and buckets", Change.IN_PLACE, (), max_length=8
    )
