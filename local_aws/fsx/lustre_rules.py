"""The valid Lustre file systems: capacity, throughput, storage, version and features of each deployment type.

The rules come from FSx's API reference and CloudFormation's documentation of AWS::FSx::FileSystem.
"""

from local_aws.errors import AwsError
from local_aws.json_service import Json

_VERSIONS = ("2.10", "2.12", "2.15")
_THROUGHPUTS = {
    ("PERSISTENT_1", "SSD"): (50, 100, 200),
    ("PERSISTENT_1", "HDD"): (12, 40),
    ("PERSISTENT_2", "SSD"): (125, 250, 500, 1000),
}
_HDD_STEPS = {12: 6000, 40: 1800}
_METADATA_IOPS = (1500, 3000, 6000)


def bad(message: str) -> AwsError:
    """Return the error of an invalid request."""
    return AwsError("BadRequest", message)


def check_new(request: Json, lustre: Json, version: str) -> None:
    """Refuse an invalid file system; ``lustre`` and ``version`` already have their defaults."""
    kind, storage = lustre["DeploymentType"], request.get("StorageType", "SSD")
    if version not in _VERSIONS:
        raise bad(f"FileSystemTypeVersion must be one of {', '.join(_VERSIONS)}, got {version}")
    _check_storage_type(kind, storage, lustre)
    if storage == "INTELLIGENT_TIERING":
        _check_tiering(request, lustre)
    else:
        check_throughput(kind, storage, lustre)
        check_capacity(request.get("StorageCapacity"), kind, storage, lustre)
    check_version(kind, version, lustre)
    _check_persistent(kind, request, lustre)
    _check_repository(kind, lustre)


def check_capacity(capacity: int | None, kind: str, storage: str, lustre: Json) -> None:
    """Refuse a capacity, in GiB, that the deployment type does not support."""
    if capacity is None:
        raise bad(f"StorageCapacity is required for {kind} with {storage} storage")
    if storage == "HDD":
        step = _HDD_STEPS[lustre["PerUnitStorageThroughput"]]
        fits, text = capacity % step == 0, f"a multiple of {step}"
    elif kind == "SCRATCH_1":
        fits, text = capacity in (1200, 2400) or capacity % 3600 == 0, "1200, 2400 or a multiple of 3600"
    else:
        fits, text = capacity == 1200 or capacity % 2400 == 0, "1200 or a multiple of 2400"
    if capacity <= 0 or not fits:
        raise bad(f"Invalid storage capacity {capacity}: {kind} with {storage} storage takes {text} GiB")


def check_throughput(kind: str, storage: str, lustre: Json) -> None:
    """Refuse a throughput, in MB/s per TiB, that the deployment type does not support."""
    throughput, offered = lustre.get("PerUnitStorageThroughput"), _THROUGHPUTS.get((kind, storage))
    if offered is None and throughput is not None:
        raise bad(f"PerUnitStorageThroughput is for persistent deployment types, got {throughput} for {kind}")
    if offered is not None and throughput not in offered:
        raise AwsError(
            "InvalidPerUnitStorageThroughput",
            f"PerUnitStorageThroughput of {kind} with {storage} storage must be one of {list(offered)}, got {throughput}",
        )


def newer(version: str, than: str) -> bool:
    """Return whether a Lustre version is newer than another."""
    return version in _VERSIONS and _VERSIONS.index(version) > _VERSIONS.index(than)


def _check_storage_type(kind: str, storage: str, lustre: Json) -> None:
    if storage == "HDD" and kind != "PERSISTENT_1":
        raise bad(f"StorageType HDD is for PERSISTENT_1, got {kind}")
    if storage == "INTELLIGENT_TIERING" and kind != "PERSISTENT_2":
        raise bad(f"StorageType INTELLIGENT_TIERING is for PERSISTENT_2, got {kind}")
    if (storage == "HDD") != ("DriveCacheType" in lustre):
        raise bad("DriveCacheType must be given for StorageType HDD, and only for it")


def _check_tiering(request: Json, lustre: Json) -> None:
    if "StorageCapacity" in request or "PerUnitStorageThroughput" in lustre:
        raise bad("INTELLIGENT_TIERING takes neither StorageCapacity nor PerUnitStorageThroughput")
    throughput = lustre.get("ThroughputCapacity")
    if not throughput or throughput % 4000:
        raise bad(f"ThroughputCapacity must be a multiple of 4000 MB/s, got {throughput}")


def check_version(kind: str, version: str, lustre: Json) -> None:
    """Refuse a Lustre version that the deployment type or a requested feature does not support."""
    if kind == "PERSISTENT_2" and version == "2.10":
        raise bad("PERSISTENT_2 does not support Lustre version 2.10")
    metadata = lustre.get("MetadataConfiguration")
    if metadata:
        if kind != "PERSISTENT_2" or version != "2.15":
            raise bad(f"MetadataConfiguration needs PERSISTENT_2 and version 2.15, got {kind} and {version}")
        _check_metadata(metadata)
    if lustre.get("EfaEnabled") and not metadata:
        raise bad("EfaEnabled needs PERSISTENT_2 with a MetadataConfiguration")


def _check_metadata(metadata: Json) -> None:
    iops = metadata.get("Iops")
    if (metadata.get("Mode") == "USER_PROVISIONED") != (iops is not None):
        raise bad("MetadataConfiguration takes Iops in Mode USER_PROVISIONED, and only there")
    if iops is not None and iops not in _METADATA_IOPS and iops % 12000:
        raise bad(f"MetadataConfiguration.Iops must be one of {list(_METADATA_IOPS)} or a multiple of 12000, got {iops}")


def _check_persistent(kind: str, request: Json, lustre: Json) -> None:
    if not kind.startswith("PERSISTENT"):
        if "KmsKeyId" in request:
            raise bad(f"KmsKeyId is for persistent deployment types, got {kind}")
        if lustre.get("AutomaticBackupRetentionDays"):
            raise bad(f"automatic backups are for persistent deployment types, got {kind}")
    if not lustre.get("AutomaticBackupRetentionDays"):
        given = [name for name in ("DailyAutomaticBackupStartTime", "CopyTagsToBackups") if lustre.get(name)]
        if given:
            raise bad(f"{given} need AutomaticBackupRetentionDays above 0")


def _check_repository(kind: str, lustre: Json) -> None:
    if "ImportPath" not in lustre:
        given = [name for name in ("ExportPath", "AutoImportPolicy", "ImportedFileChunkSize") if name in lustre]
        if given:
            raise bad(f"{given} need ImportPath")
        return
    if kind == "PERSISTENT_2":
        raise bad("PERSISTENT_2 takes data repository associations in place of ImportPath")
    if lustre.get("AutomaticBackupRetentionDays"):
        raise bad("a file system that is linked to S3 cannot have backups")
