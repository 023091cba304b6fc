"""Operations on Lustre file systems: create, describe, update, delete."""

import secrets
import string
from datetime import UTC, datetime

from local_aws.fsx.lustre_rules import bad, check_capacity, check_new, check_throughput, check_version, newer
from local_aws.fsx.model import FileSystem, add, associations, file_systems, find_file_system, known, new_id, tags_from
from local_aws.fsx.network import attach, place_of
from local_aws.fsx.tag_operations import request_context
from local_aws.fsx.transitions import become_available, delete, later
from local_aws.json_service import Call, Json, Operation, page, tag_context

_REPOSITORY = ("ImportPath", "ExportPath", "AutoImportPolicy", "ImportedFileChunkSize")
_OTHER_TYPES = ("WindowsConfiguration", "OntapConfiguration", "OpenZFSConfiguration")


def create_file_system(call: Call) -> Json:
    """Create a file system in state CREATING; return the existing one for a repeated token."""
    request = call.request
    if request["FileSystemType"] != "LUSTRE" or any(name in request for name in _OTHER_TYPES):
        raise bad(f"the embedded AWS only supports file systems of type LUSTRE, got {request['FileSystemType']}")
    earlier = known(call, file_systems(call))
    if earlier:
        return {"FileSystem": earlier.details()}
    lustre = {"DeploymentType": "SCRATCH_1", **(request.get("LustreConfiguration") or {})}
    version = request.get("FileSystemTypeVersion") or _default_version(lustre)
    check_new(request, lustre, version)
    file_system = _new_file_system(call, lustre, version)
    add(file_system)
    become_available("fsx.create", file_system, call)
    return {"FileSystem": file_system.details()}


def _new_file_system(call: Call, lustre: Json, version: str) -> FileSystem:
    """Return the new file system, with its interfaces in the subnet, if the caller may create it."""
    request, file_system_id = call.request, new_id("fs")
    arn = call.arn("fsx", f"file-system/{file_system_id}")
    call.authorize("fsx:CreateFileSystem", arn, request_context(request))
    if request.get("Tags"):
        call.authorize("fsx:TagResource", arn, request_context(request))
    place, vpc_id = place_of(call)
    persistent = lustre["DeploymentType"].startswith("PERSISTENT")
    return FileSystem(
        account=call.account,
        region=call.region,
        id=file_system_id,
        arn=arn,
        request=request,
        capacity=request.get("StorageCapacity"),
        kms_key=request.get("KmsKeyId") or (call.arn("kms", "alias/aws/fsx") if persistent else None),
        lustre=_shown(lustre),
        version=version,
        vpc_id=vpc_id,
        interfaces=attach(place, file_system_id, request),
        tags=tags_from(request),
    )


def _default_version(lustre: Json) -> str:
    if lustre["DeploymentType"] != "PERSISTENT_2":
        return "2.10"
    return "2.15" if lustre.get("MetadataConfiguration") else "2.12"


def _shown(lustre: Json) -> Json:
    """Return the configuration in the API's form, with defaults."""
    letters = string.ascii_lowercase + string.digits
    name = "fsx" if lustre["DeploymentType"] == "SCRATCH_1" else "".join(secrets.choice(letters) for _ in range(8))
    defaults: Json = {
        "WeeklyMaintenanceStartTime": "7:09:00",
        "MountName": name,
        "CopyTagsToBackups": False,
        "DataCompressionType": "NONE",
        "LogConfiguration": {"Level": "DISABLED"},
        "EfaEnabled": False,
    }
    if lustre["DeploymentType"].startswith("PERSISTENT"):
        defaults["AutomaticBackupRetentionDays"] = 0
    repository = {key: value for key, value in lustre.items() if key in _REPOSITORY}
    rest = {key: value for key, value in lustre.items() if key not in _REPOSITORY}
    linked = {"DataRepositoryConfiguration": {"Lifecycle": "AVAILABLE", **repository}} if repository else {}
    return {**defaults, **rest, **linked}


def describe_file_systems(call: Call) -> Json:
    """Return the requested file systems, or all, in pages."""
    ids = call.request.get("FileSystemIds")
    call.authorize("fsx:DescribeFileSystems", call.arn("fsx", f"file-system/{ids[0] if ids else '*'}"))
    found = [find_file_system(call, one) for one in ids] if ids else file_systems(call)
    shown, token = page(call, found)
    return {"FileSystems": [file_system.details() for file_system in shown], **token}


def update_file_system(call: Call) -> Json:
    """Change the file system; it is UPDATING until the change applies."""
    request = call.request
    file_system = find_file_system(call, request["FileSystemId"])
    call.authorize("fsx:UpdateFileSystem", file_system.arn, tag_context(file_system.tags, "aws:ResourceTag"))
    if file_system.lifecycle != "AVAILABLE":
        raise bad(f"file system {file_system.id} is {file_system.lifecycle} and cannot be updated")
    change = _merged(file_system.lustre, request.get("LustreConfiguration") or {})
    kind, storage = change["DeploymentType"], file_system.storage_type
    if storage != "INTELLIGENT_TIERING":
        check_throughput(kind, storage, change)
    capacity = request.get("StorageCapacity")
    if capacity is not None:
        _check_growth(file_system, capacity)
        check_capacity(capacity, kind, storage, change)
    if change.get("AutomaticBackupRetentionDays") and _is_linked(call, file_system):
        raise bad("a file system that is linked to S3 cannot have backups")
    version = request.get("FileSystemTypeVersion", file_system.version)
    if version != file_system.version and not newer(version, file_system.version):
        raise bad(f"FileSystemTypeVersion can only be raised, from {file_system.version}, got {version}")
    check_version(kind, version, change)
    _begin_update(file_system, change, capacity, version)
    return {"FileSystem": file_system.details()}


def _merged(old: Json, new: Json) -> Json:
    """Return the changed configuration; MetadataConfiguration may contain only some fields."""
    both = {**old, **new}
    if "MetadataConfiguration" in new:
        both["MetadataConfiguration"] = {**old.get("MetadataConfiguration", {}), **new["MetadataConfiguration"]}
    return both


def _check_growth(file_system: FileSystem, capacity: int) -> None:
    current = file_system.capacity or 0
    if file_system.lustre["DeploymentType"] == "SCRATCH_1":
        raise bad("the capacity of a SCRATCH_1 file system cannot be changed")
    if capacity < current * 1.1:
        raise bad(f"StorageCapacity must grow by 10 % at least, from {current}, got {capacity}")


def _begin_update(file_system: FileSystem, lustre: Json, capacity: int | None, version: str) -> None:
    target: Json = {"LustreConfiguration": lustre, "FileSystemTypeVersion": version}
    if capacity is not None:
        target["StorageCapacity"] = capacity
    action: Json = {
        "AdministrativeActionType": "FILE_SYSTEM_UPDATE",
        "RequestTime": datetime.now(UTC),
        "Status": "IN_PROGRESS",
        "TargetFileSystemValues": target,
    }
    file_system.actions.insert(0, action)
    file_system.lifecycle = "UPDATING"

    def finish() -> None:
        file_system.lustre, file_system.version = lustre, version
        if capacity is not None:
            file_system.capacity = capacity
        action["Status"], file_system.lifecycle = "COMPLETED", "AVAILABLE"

    later("fsx.update", file_system, finish)


def _is_linked(call: Call, file_system: FileSystem) -> bool:
    linked = any(association.file_system is file_system for association in associations(call))
    return linked or "DataRepositoryConfiguration" in file_system.lustre


def delete_file_system(call: Call) -> Json:
    """Delete the file system; it and its associations are DELETING first."""
    file_system = find_file_system(call, call.request["FileSystemId"])
    call.authorize("fsx:DeleteFileSystem", file_system.arn, tag_context(file_system.tags, "aws:ResourceTag"))
    if (call.request.get("LustreConfiguration") or {}).get("SkipFinalBackup") is False:
        raise bad("final backups are not part of the embedded AWS: leave SkipFinalBackup out or true")
    if file_system.lifecycle != "DELETING":
        for association in associations(call):
            if association.file_system is file_system:
                association.lifecycle = "DELETING"
        delete("fsx.delete", file_system)
    return {"FileSystemId": file_system.id, "Lifecycle": "DELETING"}


OPERATIONS: dict[str, Operation] = {
    "CreateFileSystem": create_file_system,
    "DescribeFileSystems": describe_file_systems,
    "UpdateFileSystem": update_file_system,
    "DeleteFileSystem": delete_file_system,
}
