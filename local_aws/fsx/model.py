"""The state of the embedded FSx: Lustre file systems and their data repository associations."""

import secrets
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from local_aws.errors import AwsError
from local_aws.json_service import Call, Json
from local_aws.network_interfaces import Interface

# Protects everything below; actions on the schedule take it, too.
lock = threading.RLock()


def new_id(kind: str) -> str:
    """Return an id such as fs-0123456789abcdef0."""
    return f"{kind}-{secrets.token_hex(9)[:17]}"


def tags_from(request: Json) -> dict[str, str]:
    """Return the request's tags as a mapping."""
    return {tag["Key"]: tag["Value"] for tag in request.get("Tags") or []}


def tag_list(tags: dict[str, str]) -> list[dict[str, str]]:
    """Return tags in the API's form."""
    return [{"Key": key, "Value": value} for key, value in tags.items()]


@dataclass
class FileSystem:
    """A Lustre file system; ``request`` is the request that created it, ``lustre`` its configuration in the API's form.

    ``folder`` has the contents, if simulated nodes mount it.
    """

    account: str
    region: str
    id: str
    arn: str
    request: Json
    capacity: int | None
    kms_key: str | None
    lustre: Json
    version: str
    vpc_id: str
    interfaces: list[Interface]
    tags: dict[str, str]
    lifecycle: str = "CREATING"
    failure: str = ""
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    actions: list[Json] = field(default_factory=list)
    folder: Path | None = None

    @property
    def storage_type(self) -> str:
        """Return SSD, HDD or INTELLIGENT_TIERING."""
        return str(self.request.get("StorageType", "SSD"))

    @property
    def dns_name(self) -> str:
        """Return the name that clients mount."""
        return f"{self.id}.fsx.{self.region}.amazonaws.com"

    def details(self) -> Json:
        """Return the file system in the API's form."""
        details: Json = {
            "OwnerId": self.account,
            "CreationTime": self.created,
            "FileSystemId": self.id,
            "FileSystemType": "LUSTRE",
            "Lifecycle": self.lifecycle,
            "StorageType": self.storage_type,
            "VpcId": self.vpc_id,
            "SubnetIds": self.request["SubnetIds"],
            "NetworkInterfaceIds": [interface.id for interface in self.interfaces],
            "DNSName": self.dns_name,
            "ResourceARN": self.arn,
            "Tags": tag_list(self.tags),
            "LustreConfiguration": self.lustre,
            "AdministrativeActions": self.actions,
            "FileSystemTypeVersion": self.version,
            "NetworkType": "IPV4",
        }
        if self.capacity is not None:
            details["StorageCapacity"] = self.capacity
        if self.kms_key:
            details["KmsKeyId"] = self.kms_key
        return details | ({"FailureDetails": {"Message": self.failure}} if self.failure else {})


@dataclass
class Association:
    """A data repository association: a folder of a file system and its link in S3.

    ``request`` is the request that created it, ``current`` its current settings.
    """

    id: str
    arn: str
    file_system: FileSystem
    request: Json
    current: Json
    path: str
    tags: dict[str, str]
    lifecycle: str = "CREATING"
    failure: str = ""
    created: datetime = field(default_factory=lambda: datetime.now(UTC))

    def details(self) -> Json:
        """Return the association in the API's form."""
        details: Json = {
            "AssociationId": self.id,
            "ResourceARN": self.arn,
            "FileSystemId": self.file_system.id,
            "Lifecycle": self.lifecycle,
            "FileSystemPath": self.path,
            "DataRepositoryPath": self.current["DataRepositoryPath"],
            "BatchImportMetaDataOnCreate": self.current.get("BatchImportMetaDataOnCreate", False),
            "ImportedFileChunkSize": self.current.get("ImportedFileChunkSize", 1024),
            "S3": self.current.get("S3", {}),
            "Tags": tag_list(self.tags),
            "CreationTime": self.created,
        }
        return details | ({"FailureDetails": {"Message": self.failure}} if self.failure else {})


Thing = TypeVar("Thing", FileSystem, Association)
_file_systems: dict[str, FileSystem] = {}
_associations: dict[str, Association] = {}


def file_systems(call: Call) -> list[FileSystem]:
    """Return the file systems of the call's account and region."""
    return [one for one in _file_systems.values() if (one.account, one.region) == (call.account, call.region)]


def associations(call: Call) -> list[Association]:
    """Return the associations of the call's account and region."""
    mine = {one.id for one in file_systems(call)}
    return [one for one in _associations.values() if one.file_system.id in mine]


def find_file_system(call: Call, file_system_id: str) -> FileSystem:
    """Return the file system with this id."""
    for file_system in file_systems(call):
        if file_system.id == file_system_id:
            return file_system
    raise AwsError("FileSystemNotFound", f"File system '{file_system_id}' does not exist.")


def find_association(call: Call, association_id: str) -> Association:
    """Return the association with this id."""
    for association in associations(call):
        if association.id == association_id:
            return association
    raise AwsError("DataRepositoryAssociationNotFound", f"Data repository association '{association_id}' does not exist.")


def known(call: Call, things: Iterable[Thing]) -> Thing | None:
    """Return the file system or association that an earlier call with the same token created."""
    token = call.request.get("ClientRequestToken")
    earlier = next((thing for thing in things if token and thing.request.get("ClientRequestToken") == token), None)
    if earlier and earlier.request != call.request:
        raise AwsError("IncompatibleParameterError", f"ClientRequestToken {token} was used with other parameters")
    return earlier


def add(thing: FileSystem | Association) -> None:
    """Add a file system or association."""
    if isinstance(thing, FileSystem):
        _file_systems[thing.id] = thing
    else:
        _associations[thing.id] = thing


def exists(thing: FileSystem | Association) -> bool:
    """Return whether it still exists."""
    return thing.id in _file_systems or thing.id in _associations


def remove(thing: FileSystem | Association) -> None:
    """Delete the file system with its associations, or the association."""
    _file_systems.pop(thing.id, None)
    for association in list(_associations.values()):
        if thing.id in (association.id, association.file_system.id):
            del _associations[association.id]


def everything() -> list[FileSystem]:
    """Return the file systems of all accounts and regions."""
    return list(_file_systems.values())


def reset() -> None:
    """Delete everything."""
    _file_systems.clear()
    _associations.clear()
