"""Volumes and file systems of the groups (`InstanceStorageConfigs`) as fields of the cluster file."""

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from cluster_request.request import Request
from config.section import KEY_ARN
from config.storage import LustreConfig, OpenZfsConfig

STORAGE = "InstanceStorageConfigs"
EBS, LUSTRE, OPENZFS = "EbsVolumeConfig", "FsxLustreConfig", "FsxOpenZfsConfig"
DNS_NAME = re.compile(r"(fs-[0-9a-f]{8,17})\.fsx\.[a-z0-9-]+\.amazonaws\.com(\.cn)?")


class Mounts(NamedTuple):
    """The file systems that HyperPod mounts on each node, as in the request."""

    lustre: Request | None = None
    openzfs: Request | None = None

    @property
    def file_system_id(self) -> str | None:
        """Return the ID of the Lustre file system."""
        found = DNS_NAME.fullmatch(self.lustre["DnsName"]) if self.lustre else None
        return found[1] if found else None


@dataclass(frozen=True)
class GroupStorage:
    """The storage of a group that fields can set; ``volumes`` are its `volume_gib` and `volume_key_arn`."""

    volumes: dict[str, Any]
    mounts: Mounts


def storage_of(group: Request) -> GroupStorage | None:
    """Return the group's storage, or None if fields cannot set it."""
    by_kind: dict[str, Request] = {}
    for entry in group.get(STORAGE, ()):
        [(kind, value)] = entry.items()  # the service model requires one kind
        name = "root" if kind == EBS and value.get("RootVolume") else kind
        if name in by_kind:
            return None
        by_kind[name] = value
    volumes = _volumes(by_kind.get(EBS), by_kind.get("root"))
    mounts = Mounts(by_kind.get(LUSTRE), by_kind.get(OPENZFS))
    return None if volumes is None or not _is_ours(mounts) else GroupStorage(volumes, mounts)


def _volumes(additional: Request | None, root: Request | None) -> dict[str, Any] | None:
    """Return the fields of the volumes, or None if they have different keys, or members without a field."""
    key = (root or {}).get("VolumeKmsKeyId")
    if root is not None and (root != {"RootVolume": True, "VolumeKmsKeyId": key} or not re.fullmatch(KEY_ARN, str(key))):
        return None
    fields = {"volume_key_arn": key} if key else {}
    if additional is None:
        return fields
    size = additional.get("VolumeSizeInGB")
    expected = {"VolumeSizeInGB": size, **({"VolumeKmsKeyId": key} if key else {})}
    return {"volume_gib": size, **fields} if size is not None and additional == expected else None


def _is_ours(mounts: Mounts) -> bool:
    """Return whether the file systems are mounted where this project mounts them."""
    lustre, openzfs = mounts
    return (lustre is None or (lustre.get("MountPath") == LustreConfig.mount_path and mounts.file_system_id is not None)) and (
        openzfs is None or (openzfs.get("MountPath") == OpenZfsConfig.mount_path and bool(DNS_NAME.fullmatch(openzfs["DnsName"])))
    )


def common_mounts(groups: list[Request]) -> Mounts | None:
    """Return the file systems that all groups have, or None if groups differ or fields cannot set them."""
    found = [storage_of(group) for group in groups]
    first = found[0].mounts if found[0] else None
    return first if first is not None and all(each is not None and each.mounts == first for each in found) else None


def ordered(storage: list[Request]) -> list[Request]:
    """Return the entries in the order of this project's requests, which has no meaning for HyperPod."""
    kinds = (EBS, LUSTRE, OPENZFS)
    return sorted(storage, key=lambda entry: (kinds.index(next(iter(entry))), bool(entry.get(EBS, {}).get("RootVolume"))))
