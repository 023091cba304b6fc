"""Rules about the volumes and file systems that HyperPod itself attaches to a group's nodes (`InstanceStorageConfigs`)."""

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath

from config.errors import ABSENT, Level, Path, Problem
from config.model import ClusterConfig
from validation.entries import numbered
from validation.rules.registry import rule
from validation.rules.verbatim import items, member, text

# The system's own, of which a mount would hide all that is in them.
RESERVED = (
    *("/", "/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/media", "/mnt", "/opt", "/proc", "/root", "/run", "/sbin"),
    *("/srv", "/sys", "/tmp", "/usr", "/var", "/opt/ml", "/opt/slurm", "/opt/sagemaker"),  # noqa: S108  nothing is written there
)
# What HyperPod mounts, and where it does by default: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html
MOUNTED = {"FsxLustreConfig": "/fsx", "FsxOpenZfsConfig": "/home"}
# Where nothing can be mounted, however deep.
KERNEL = ("/dev", "/proc", "/sys", "/run")


def _storage(config: ClusterConfig) -> Iterator[tuple[Path, object]]:
    """Every entry of every group, with its path."""
    for index, group in numbered(config.instance_groups):
        for at, each in items(group.overrides, "InstanceStorageConfigs"):
            yield ("instance_groups", index, "overrides", "InstanceStorageConfigs", at), each


def _mounts(config: ClusterConfig) -> bool:
    """Tell whether HyperPod itself mounts what groups name."""
    return any(text(group.overrides, "SlurmConfig", "NodeType") == "Controller" for group in config.instance_groups)


@rule("size-and-key-of-volumes", "instance_groups[]", level=Level.WARNING)
def size_and_key_of_volumes(config: ClusterConfig) -> Iterator[Problem]:
    """A root volume has a key and no size, and another volume has a size.

    HyperPod sizes root volumes itself and encrypts all of them: it refuses a size, and an entry without a key asks for nothing.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterEbsVolumeConfig.html
    for path, each in _storage(config):
        volume = member(each, "EbsVolumeConfig")
        size, is_root = member(volume, "VolumeSizeInGB"), member(volume, "RootVolume") is True
        here = (*path, "EbsVolumeConfig")
        if is_root and size is not None:
            yield Problem((*here, "VolumeSizeInGB"), size, "HyperPod sizes root volumes itself; remove it")
        if is_root and not text(volume, "VolumeKmsKeyId"):
            yield Problem(
                (*here, "VolumeKmsKeyId"), ABSENT, "a root volume is named to give it a key; add it, or remove the entry"
            )
        if isinstance(volume, dict) and not is_root and size is None:
            yield Problem((*here, "VolumeSizeInGB"), ABSENT, "a volume beside the root needs a size; add it, e.g. 500")


@rule("storage-once-of-each-kind", "instance_groups[]", level=Level.WARNING)
def storage_once_of_each_kind(config: ClusterConfig) -> Iterator[Problem]:
    """A group has at most one root volume, one other volume, one FSx for Lustre and one FSx for OpenZFS file system.

    HyperPod attaches one of each: it refuses the request, or leaves one out.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceStorageConfig.html
    told: Counter[tuple[object, str]] = Counter()
    for path, each in _storage(config):
        is_root = member(each, "EbsVolumeConfig", "RootVolume") is True
        for kind in ("EbsVolumeConfig", "FsxLustreConfig", "FsxOpenZfsConfig"):
            if member(each, kind) is None:
                continue
            what = f"root {kind}" if is_root else kind
            told[path[1], what] += 1
            if told[path[1], what] == 2:
                yield Problem((*path, kind), member(each, kind), "the group has one of this kind already; keep one")


@rule("mount-points", "instance_groups", "storage.lustre", "storage.existing", "storage.openzfs", level=Level.WARNING)
def mount_points(config: ClusterConfig) -> Iterator[Problem]:
    """What HyperPod mounts lies in a folder of its own: none of the system's, of this project's mounts, or of another one.

    A mount hides what was in the folder: programs, settings or other data, on every node of the group.
    """
    storage = config.storage
    if not _mounts(config):
        return  # mounts-by-hyperpod tells
    ours = {"/fsx": storage.lustre or storage.existing, "/home": storage.openzfs}
    taken: dict[object, list[str]] = {}
    for path, each in _storage(config):
        for kind, default in MOUNTED.items():
            if member(each, kind) is None:
                continue
            place = text(each, kind, "MountPath") or default
            others = taken.setdefault(path[1], [mount for mount, what in ours.items() if what])
            if wrong := _wrong_place(place, others):
                yield Problem((*path, kind, "MountPath"), place, f"{wrong}; use a folder of its own, e.g. /shared")
            others.append(place)


@rule("mounts-by-hyperpod", "instance_groups", level=Level.WARNING)
def mounts_by_hyperpod(config: ClusterConfig) -> Iterator[Problem]:
    """HyperPod itself mounts file systems (`FsxLustreConfig`, `FsxOpenZfsConfig`) where the controller group has a `SlurmConfig`.

    Without it HyperPod sets nothing up on the nodes itself: they run without the file system, or do not start.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html
    if _mounts(config):
        return
    for path, each in _storage(config):
        for kind in MOUNTED:
            if member(each, kind) is not None:
                message = "HyperPod mounts nothing while no group's `SlurmConfig` is a Controller's; use `storage` instead"
                yield Problem((*path, kind), member(each, kind), message)


@rule("fsx-without-vpc-config", "instance_groups[]", "overrides")
def fsx_without_vpc_config(config: ClusterConfig) -> Iterator[Problem]:
    """A cluster with file systems in `InstanceStorageConfigs` keeps its `VpcConfig`.

    HyperPod refuses the request: file systems are reached from a VPC of the account only.
    """
    # "Common validation errors" of https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-getting-started-slurm-cli.html
    if "VpcConfig" not in config.overrides or config.overrides["VpcConfig"] is not None:
        return
    for path, each in _storage(config):
        for kind in MOUNTED:
            if member(each, kind) is not None:
                message = "HyperPod refuses FSx without a VPC; remove `VpcConfig: null` from the cluster's overrides"
                yield Problem((*path, kind), member(each, kind), message)


def _wrong_place(place: str, others: list[str]) -> str | None:
    """Why nothing should be mounted there."""
    path = PurePosixPath(place)
    if {".", ".."} & set(place.split("/")):
        return "goes through . or .."
    if str(path) in RESERVED or any(path.is_relative_to(kernel) for kernel in KERNEL):
        return "is the system's own"
    near = next((other for other in others if path.is_relative_to(other) or PurePosixPath(other).is_relative_to(path)), None)
    return f"overlaps {near}, where another file system is mounted" if near else None
