"""Check the volumes and file systems that HyperPod attaches to a group's nodes (`InstanceStorageConfigs`)."""

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath

from config.errors import ABSENT, Level, Path, Problem
from config.model import ClusterConfig
from validation.entries import numbered
from validation.rules.overrides import items, member, text
from validation.rules.registry import rule

# System folders, whose content a mount would hide.
RESERVED = (
    *("/", "/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/media", "/mnt", "/opt", "/proc", "/root", "/run", "/sbin"),
    *("/srv", "/sys", "/tmp", "/usr", "/var", "/opt/ml", "/opt/slurm", "/opt/sagemaker"),  # noqa: S108  only compared
)
# What HyperPod mounts, with its default mount path: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html
MOUNTED = {"FsxLustreConfig": "/fsx", "FsxOpenZfsConfig": "/home"}
# Nothing can be mounted below these.
KERNEL = ("/dev", "/proc", "/sys", "/run")


def _storage(config: ClusterConfig) -> Iterator[tuple[Path, object]]:
    """Yield every storage entry of every group, with its path."""
    for index, group in numbered(config.instance_groups):
        for at, each in items(group.overrides, "InstanceStorageConfigs"):
            yield ("instance_groups", index, "overrides", "InstanceStorageConfigs", at), each


def _mounts(config: ClusterConfig) -> bool:
    """Return whether HyperPod mounts the file systems of the groups."""
    return any(text(group.overrides, "SlurmConfig", "NodeType") == "Controller" for group in config.instance_groups)


@rule("volume-size-and-key", "instance_groups[]", level=Level.WARNING)
def volume_size_and_key(config: ClusterConfig) -> Iterator[Problem]:
    """A root volume must have a key and no size, and other volumes must have a size.

    HyperPod sizes and encrypts root volumes itself: it rejects a size, and an entry without a key has no effect.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterEbsVolumeConfig.html
    for path, each in _storage(config):
        volume = member(each, "EbsVolumeConfig")
        size, is_root = member(volume, "VolumeSizeInGB"), member(volume, "RootVolume") is True
        here = (*path, "EbsVolumeConfig")
        if is_root and size is not None:
            yield Problem((*here, "VolumeSizeInGB"), size, "not allowed for a root volume; remove it")
        if is_root and not text(volume, "VolumeKmsKeyId"):
            yield Problem((*here, "VolumeKmsKeyId"), ABSENT, "required for a root volume; add it, or remove the entry")
        if isinstance(volume, dict) and not is_root and size is None:
            yield Problem((*here, "VolumeSizeInGB"), ABSENT, "required for an additional volume; add it, e.g. 500")


@rule("duplicate-instance-storage", "instance_groups[]", level=Level.WARNING)
def duplicate_instance_storage(config: ClusterConfig) -> Iterator[Problem]:
    """A group can have at most one root volume, one other volume, one FSx for Lustre and one FSx for OpenZFS file system.

    HyperPod rejects the request, or ignores the duplicates.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceStorageConfig.html
    found: Counter[tuple[object, str]] = Counter()
    for path, each in _storage(config):
        is_root = member(each, "EbsVolumeConfig", "RootVolume") is True
        for kind in ("EbsVolumeConfig", "FsxLustreConfig", "FsxOpenZfsConfig"):
            if member(each, kind) is None:
                continue
            what = f"root {kind}" if is_root else kind
            found[path[1], what] += 1
            if found[path[1], what] == 2:
                yield Problem((*path, kind), member(each, kind), "duplicate in this group; keep only one")


@rule("mount-path-conflict", "instance_groups", "storage.lustre", "storage.existing", "storage.openzfs", level=Level.WARNING)
def mount_path_conflict(config: ClusterConfig) -> Iterator[Problem]:
    """HyperPod must mount each file system in a separate folder, outside system folders and this project's mounts.

    A mount hides the folder's content, such as programs, settings or other data, on every node of the group.
    """
    storage = config.storage
    if not _mounts(config):
        return  # mount-without-slurm-config reports it
    ours = {"/fsx": storage.lustre or storage.existing, "/home": storage.openzfs}
    taken: dict[object, list[str]] = {}
    for path, each in _storage(config):
        for kind, default in MOUNTED.items():
            if member(each, kind) is None:
                continue
            place = text(each, kind, "MountPath") or default
            others = taken.setdefault(path[1], [mount for mount, what in ours.items() if what])
            if wrong := _wrong_place(place, others):
                yield Problem((*path, kind, "MountPath"), place, f"{wrong}; use another folder, e.g. /shared")
            others.append(place)


@rule("mount-without-slurm-config", "instance_groups", level=Level.WARNING)
def mount_without_slurm_config(config: ClusterConfig) -> Iterator[Problem]:
    """`FsxLustreConfig` and `FsxOpenZfsConfig` require a controller group with a `SlurmConfig`.

    Without it HyperPod does not set up the nodes: they run without the file system, or do not start.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html
    if _mounts(config):
        return
    for path, each in _storage(config):
        for kind in MOUNTED:
            if member(each, kind) is not None:
                message = "not mounted without a `SlurmConfig` of NodeType Controller; use `storage` instead"
                yield Problem((*path, kind), member(each, kind), message)


@rule("fsx-without-vpc-config", "instance_groups[]", "overrides")
def fsx_without_vpc_config(config: ClusterConfig) -> Iterator[Problem]:
    """A cluster with file systems in `InstanceStorageConfigs` requires `VpcConfig`.

    HyperPod rejects the request, as file systems are only reachable from a VPC of the account.
    """
    # "Common validation errors" of https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-getting-started-slurm-cli.html
    if "VpcConfig" not in config.overrides or config.overrides["VpcConfig"] is not None:
        return
    for path, each in _storage(config):
        for kind in MOUNTED:
            if member(each, kind) is not None:
                message = "requires a VPC; remove `VpcConfig: null` from the cluster's overrides"
                yield Problem((*path, kind), member(each, kind), message)


def _wrong_place(place: str, others: list[str]) -> str | None:
    """Return why nothing should be mounted at this path."""
    path = PurePosixPath(place)
    if {".", ".."} & set(place.split("/")):
        return "contains . or .."
    if str(path) in RESERVED or any(path.is_relative_to(kernel) for kernel in KERNEL):
        return "is a system folder"
    near = next((other for other in others if path.is_relative_to(other) or PurePosixPath(other).is_relative_to(path)), None)
    return f"overlaps the mount {near}" if near else None
