"""Check file systems and the data bucket."""

from collections.abc import Iterator

from config.errors import Level, Problem
from config.model import ClusterConfig
from config.section import Removal
from config.storage import DEFAULT_HOMES, DeploymentType
from validation.rules.registry import rule

# https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-throughput-capacity.html
THROUGHPUTS = {DeploymentType.PERSISTENT_1: (50, 100, 200), DeploymentType.PERSISTENT_2: (125, 250, 500, 1000)}


@rule("file-system-conflict", "storage.lustre", "storage.existing")
def file_system_conflict(config: ClusterConfig) -> Iterator[Problem]:
    """`storage.lustre` and `storage.existing` exclude each other.

    Nodes mount only one at /fsx.
    """
    if config.storage.lustre is not None and config.storage.existing is not None:
        message = "cannot be combined with `lustre`"
        yield Problem(("storage", "existing"), config.storage.existing.file_system_id, message, "remove `existing` or `lustre`")


@rule("storage-capacity", "storage.lustre.storage_capacity_gib")
def storage_capacity(config: ClusterConfig) -> Iterator[Problem]:
    """`storage_capacity_gib` must be 1200 or a multiple of 2400.

    FSx rejects other sizes, and the deployment rolls back after the network is created.
    """
    lustre = config.storage.lustre
    if lustre is None or lustre.storage_capacity_gib == 1200 or lustre.storage_capacity_gib % 2400 == 0:
        return
    below = lustre.storage_capacity_gib // 2400 * 2400
    message = "must be 1200 or a multiple of 2400"
    fix = f"use {below or 1200} or {below + 2400}"
    yield Problem(("storage", "lustre", "storage_capacity_gib"), lustre.storage_capacity_gib, message, fix)


@rule("lustre-throughput", "storage.lustre.throughput_mbps_per_tib", "storage.lustre.deployment_type")
def lustre_throughput(config: ClusterConfig) -> Iterator[Problem]:
    """The deployment type must support the throughput per TiB.

    FSx rejects other values, and the deployment rolls back after the network is created.
    """
    lustre = config.storage.lustre
    if lustre is None or lustre.throughput_mbps_per_tib in THROUGHPUTS[lustre.deployment_type]:
        return
    *first, last = THROUGHPUTS[lustre.deployment_type]
    message = f"not supported by {lustre.deployment_type}"
    fix = f"use {', '.join(map(str, first))} or {last}"
    yield Problem(("storage", "lustre", "throughput_mbps_per_tib"), lustre.throughput_mbps_per_tib, message, fix)


@rule(
    "lustre-version",
    "storage.lustre.version",
    "storage.lustre.deployment_type",
    "storage.data_repository_associations",
)
def lustre_version(config: ClusterConfig) -> Iterator[Problem]:
    """Lustre 2.10 requires PERSISTENT_1 and does not support associations.

    FSx rejects it otherwise, and the deployment rolls back after the network is created.
    """
    lustre = config.storage.lustre
    if lustre is None or lustre.version != "2.10":
        return
    path = ("storage", "lustre", "version")
    if lustre.deployment_type is DeploymentType.PERSISTENT_2:
        yield Problem(path, lustre.version, "not supported by PERSISTENT_2", 'use "2.15"')
    if config.storage.data_repository_associations:
        yield Problem(path, lustre.version, "data repository associations require 2.12 or later", 'use "2.15"')


@rule("duplicate-file-system", "storage.existing", "storage.openzfs")
def duplicate_file_system(config: ClusterConfig) -> Iterator[Problem]:
    """`storage.existing` and `storage.openzfs` must be different file systems.

    A file system is either Lustre or OpenZFS: one of the mounts would fail, and with it the setup of every node.
    """
    existing, openzfs = config.storage.existing, config.storage.openzfs
    if existing and openzfs and openzfs.dns_name.startswith(f"{existing.file_system_id}."):
        message = "is the FSx for Lustre file system of `existing`"
        fix = "use an OpenZFS file system, or remove this section"
        yield Problem(("storage", "openzfs", "dns_name"), openzfs.dns_name, message, fix)


@rule("unused-homes", "storage.homes", "storage.lustre", "storage.existing", "storage.openzfs", level=Level.WARNING)
def unused_homes(config: ClusterConfig) -> Iterator[Problem]:
    """`storage.homes` applies only to a Lustre file system, without `storage.openzfs`.

    Otherwise it is ignored: homes are in /home.
    """
    storage = config.storage
    if storage.homes == DEFAULT_HOMES or ((storage.lustre or storage.existing) and storage.openzfs is None):
        return
    fix = "remove one of the two" if storage.openzfs else "remove this line, or add `storage.lustre` or `storage.existing`"
    where = "`storage.openzfs` holds the homes" if storage.openzfs else "no Lustre file system is configured"
    yield Problem(("storage", "homes"), storage.homes, f"is ignored, because {where}", fix)


@rule("existing-bucket-removal", "storage.data_bucket")
def existing_bucket_removal(config: ClusterConfig) -> Iterator[Problem]:
    """`removal: destroy` is not allowed for an existing bucket.

    An existing bucket is never deleted or emptied, so the setting would be misleading.
    """
    bucket = config.storage.data_bucket
    if bucket.existing is not None and bucket.removal is Removal.DESTROY:
        path = ("storage", "data_bucket", "removal")
        yield Problem(path, str(bucket.removal), f"existing bucket {bucket.existing} is never deleted", "remove this line")


@rule("data-deletion", "storage.lustre", "storage.data_bucket", "removal", level=Level.WARNING)
def data_deletion(config: ClusterConfig) -> Iterator[Problem]:
    """`cdk destroy` should keep the file system and the data bucket (`removal: retain`).

    Their data is lost with the stack, even if a replacement of its resources was unintended.
    """
    bucket = config.storage.data_bucket
    message, fix = "`cdk destroy` deletes all its data", "set `retain`, or suppress this warning"
    if config.removal is Removal.RETAIN:
        return  # retain-storage reports it
    for name, created in config.storage.created_file_systems.items():
        if created.removal is Removal.DESTROY:
            yield Problem(("storage", name, "removal"), created.removal.value, message, fix)
    if bucket.existing is None and bucket.removal is Removal.DESTROY:
        yield Problem(("storage", "data_bucket", "removal"), bucket.removal.value, message, fix)


@rule("openzfs-region", "storage.openzfs", "region", level=Level.WARNING)
def openzfs_region(config: ClusterConfig) -> Iterator[Problem]:
    """The OpenZFS file system for home directories should be in the cluster's region.

    Across regions, every access to a home directory is slow or fails.
    """
    if config.storage.openzfs and config.region:
        name = config.storage.openzfs.dns_name
        region = name.split(".")[2]
        if region != config.region:
            fix = f"use a file system in {config.region}, or suppress this warning"
            yield Problem(("storage", "openzfs", "dns_name"), name, f"is in {region}, but the cluster is in {config.region}", fix)
