"""Check the volumes and file systems that HyperPod attaches to a group's nodes (`InstanceStorageConfigs`)."""

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath

from cluster_request.effective_request import EffectiveRequest, GroupMember, Member
from config.errors import ABSENT, Level, Problem
from validation.rules.registry import FILE_SYSTEMS, request_rule, slurm_request_rule

# System folders, whose content a mount would hide.
RESERVED = (
    *("/", "/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/media", "/mnt", "/opt", "/proc", "/root", "/run", "/sbin"),
    *("/srv", "/sys", "/tmp", "/usr", "/var", "/opt/ml", "/opt/slurm", "/opt/sagemaker"),  # noqa: S108  only compared
)
# What HyperPod mounts, with its default mount path: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html
MOUNTED = {"FsxLustreConfig": "/fsx", "FsxOpenZfsConfig": "/home"}
# Nothing can be mounted below these.
KERNEL = ("/dev", "/proc", "/sys", "/run")


def _storage(request: EffectiveRequest) -> Iterator[tuple[GroupMember, Member]]:
    """Yield every storage entry of every group."""
    return ((group, each) for group in request.groups for each in group.entries("InstanceStorageConfigs"))


def _file_systems(request: EffectiveRequest) -> Iterator[tuple[GroupMember, Member, str]]:
    """Yield every file system that HyperPod mounts, with its group and its default mount path."""
    for group, entry in _storage(request):
        for kind, default in MOUNTED.items():
            if (each := entry.member(kind)).is_given:
                yield group, each, default


def _mounts(request: EffectiveRequest) -> bool:
    """Return whether HyperPod mounts the file systems of the groups."""
    return any(group.member("SlurmConfig", "NodeType").text == "Controller" for group in request.groups)


@request_rule("volume-size-and-key", "instance_groups[]", level=Level.WARNING)
def volume_size_and_key(request: EffectiveRequest) -> Iterator[Problem]:
    """A root volume must have a key and no size, and other volumes must have a size.

    HyperPod sizes and encrypts root volumes itself: it rejects a size, and an entry without a key has no effect.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterEbsVolumeConfig.html
    for _, each in _storage(request):
        volume = each.member("EbsVolumeConfig")
        size, key, is_root = volume.member("VolumeSizeInGB"), volume.member("VolumeKmsKeyId"), _is_root(each)
        if is_root and size.is_given:
            yield size.problem("not allowed for a root volume", "remove it")
        if is_root and not key.text:
            yield key.problem("required for a root volume", "add it, or remove the entry", ABSENT)
        if isinstance(volume.value, dict) and not is_root and not size.is_given:
            yield size.problem("required for an additional volume", "add it, e.g. 500")


def _is_root(entry: Member) -> bool:
    return entry.member("EbsVolumeConfig", "RootVolume").value is True


@request_rule("volume-key-override", "instance_groups[]")
def volume_key_override(request: EffectiveRequest) -> Iterator[Problem]:
    """An override of `InstanceStorageConfigs` must keep `volume_key_arn` for the root volume and every other volume.

    It replaces the whole list: without the key there, the nodes' disks are encrypted with another key.
    """
    for group in request.groups:
        key, storage = group.group.volume_key_arn, group.member("InstanceStorageConfigs")
        entries = [each for each in storage.entries() if each.member("EbsVolumeConfig").is_given]
        keys = {each.member("EbsVolumeConfig", "VolumeKmsKeyId").text for each in entries}
        if key is not None and not (keys == {key} and any(_is_root(each) for each in entries)):
            fix = "add it to every volume and to an entry with `RootVolume: true`, or remove this line"
            yield storage.problem("drops the group's `volume_key_arn`", fix)


@request_rule("duplicate-instance-storage", "instance_groups[]", level=Level.WARNING)
def duplicate_instance_storage(request: EffectiveRequest) -> Iterator[Problem]:
    """A group can have at most one root volume, one other volume, one FSx for Lustre and one FSx for OpenZFS file system.

    HyperPod rejects the request, or ignores the duplicates.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceStorageConfig.html
    found: Counter[tuple[object, str]] = Counter()
    for group, entry in _storage(request):
        for kind in ("EbsVolumeConfig", "FsxLustreConfig", "FsxOpenZfsConfig"):
            if not (each := entry.member(kind)).is_given:
                continue
            what = group.names, f"root {kind}" if _is_root(entry) else kind
            found[what] += 1
            if found[what] == 2:
                yield each.problem("duplicate in this group", "keep only one")


@slurm_request_rule("mount-path-conflict", "instance_groups", *FILE_SYSTEMS, level=Level.WARNING)
def mount_path_conflict(request: EffectiveRequest) -> Iterator[Problem]:
    """HyperPod must mount each file system in a separate folder, outside system folders and this project's mounts.

    A mount hides the folder's content, such as programs, settings or other data, on every node of the group.
    """
    if not _mounts(request):
        return  # mount-without-slurm-config reports it
    # With `slurm.setup: api`, these mounts are in the request too.
    ours = [] if request.config.uses_slurm_api else [each.mount_path for each in request.config.storage.file_systems]
    taken: dict[object, list[str]] = {}
    for group, each, default in _file_systems(request):
        path = each.member("MountPath")
        others = taken.setdefault(group.names, [*ours])
        if wrong := _wrong_place(path.text or default, others):
            yield path.problem(wrong, "use another folder, e.g. /shared", path.text or default)
        others.append(path.text or default)


@slurm_request_rule("mount-without-slurm-config", "instance_groups", level=Level.WARNING)
def mount_without_slurm_config(request: EffectiveRequest) -> Iterator[Problem]:
    """`FsxLustreConfig` and `FsxOpenZfsConfig` require a controller group with a `SlurmConfig`.

    Without it HyperPod does not set up the nodes: they run without the file system, or do not start.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html
    if not _mounts(request):
        for _, each, _ in _file_systems(request):
            yield each.problem("not mounted without a `SlurmConfig` of NodeType Controller", "use `storage` instead")


@request_rule("fsx-without-vpc-config", "instance_groups[]", "overrides")
def fsx_without_vpc_config(request: EffectiveRequest) -> Iterator[Problem]:
    """A cluster with file systems in `InstanceStorageConfigs` requires `VpcConfig`.

    HyperPod rejects the request, as file systems are only reachable from a VPC of the account.
    """
    # "Common validation errors" of https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-getting-started-slurm-cli.html
    if not request.member("VpcConfig").is_given:
        for _, each, _ in _file_systems(request):
            yield each.problem("requires a VPC", "remove `VpcConfig: null` from the cluster's overrides")


def _wrong_place(place: str, others: list[str]) -> str | None:
    """Return why nothing should be mounted at this path."""
    path = PurePosixPath(place)
    if {".", ".."} & set(place.split("/")):
        return "contains . or .."
    if str(path) in RESERVED or any(path.is_relative_to(kernel) for kernel in KERNEL):
        return "is a system folder"
    near = next((other for other in others if path.is_relative_to(other) or PurePosixPath(other).is_relative_to(path)), None)
    return f"overlaps the mount {near}" if near else None
