"""Rules about file systems and the data bucket."""

from collections.abc import Iterator

from config.errors import Level, Problem
from config.model import ClusterConfig
from config.section import Removal
from config.storage import DeploymentType
from validation.rules.registry import rule

# https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-throughput-capacity.html
THROUGHPUTS = {DeploymentType.PERSISTENT_1: (50, 100, 200), DeploymentType.PERSISTENT_2: (125, 250, 500, 1000)}


@rule("one-file-system", "storage.lustre", "storage.existing")
def one_file_system(config: ClusterConfig) -> Iterator[Problem]:
    """The file system is a new one (`lustre`) or one that is there already (`existing`), not both.

    Nodes mount one at /fsx, and data in the other would be where nobody looks.
    """
    if config.storage.lustre is not None and config.storage.existing is not None:
        message = "the nodes mount one file system, and `lustre` describes a new one; remove `existing` or `lustre`"
        yield Problem(("storage", "existing"), config.storage.existing.file_system_id, message)


@rule("storage-capacity", "storage.lustre.storage_capacity_gib")
def storage_capacity(config: ClusterConfig) -> Iterator[Problem]:
    """The capacity of FSx for Lustre is 1200 GiB or a multiple of 2400 GiB.

    FSx refuses other sizes, and the deployment rolls back once the network is made.
    """
    lustre = config.storage.lustre
    if lustre is None or lustre.storage_capacity_gib == 1200 or lustre.storage_capacity_gib % 2400 == 0:
        return
    below = lustre.storage_capacity_gib // 2400 * 2400
    message = f"must be 1200 or a multiple of 2400; use {below or 1200} or {below + 2400}"
    yield Problem(("storage", "lustre", "storage_capacity_gib"), lustre.storage_capacity_gib, message)


@rule("throughput-of-deployment-type", "storage.lustre.throughput_mbps_per_tib", "storage.lustre.deployment_type")
def throughput_of_deployment_type(config: ClusterConfig) -> Iterator[Problem]:
    """The throughput per TiB is one that the deployment type offers.

    FSx refuses other figures, and the deployment rolls back once the network is made.
    """
    lustre = config.storage.lustre
    if lustre is None or lustre.throughput_mbps_per_tib in THROUGHPUTS[lustre.deployment_type]:
        return
    *first, last = THROUGHPUTS[lustre.deployment_type]
    message = f"{lustre.deployment_type} does not offer it; use {', '.join(map(str, first))} or {last}"
    yield Problem(("storage", "lustre", "throughput_mbps_per_tib"), lustre.throughput_mbps_per_tib, message)


@rule(
    "version-of-deployment-type",
    "storage.lustre.version",
    "storage.lustre.deployment_type",
    "storage.data_repository_associations",
)
def version_of_deployment_type(config: ClusterConfig) -> Iterator[Problem]:
    """Lustre 2.10 runs on PERSISTENT_1 alone, and cannot have associations.

    FSx refuses it, and the deployment rolls back once the network is made.
    """
    lustre = config.storage.lustre
    if lustre is None or lustre.version != "2.10":
        return
    path = ("storage", "lustre", "version")
    if lustre.deployment_type is DeploymentType.PERSISTENT_2:
        yield Problem(path, lustre.version, 'PERSISTENT_2 does not run it; use "2.15"')
    if config.storage.data_repository_associations:
        yield Problem(path, lustre.version, 'data repository associations need 2.12 or later; use "2.15"')


@rule("one-file-system-of-a-kind", "storage.existing", "storage.openzfs")
def one_file_system_of_a_kind(config: ClusterConfig) -> Iterator[Problem]:
    """`storage.existing` and `storage.openzfs` are two file systems.

    A file system is of one kind: one of the two mounts would fail, and with it the set-up of every node.
    """
    existing, openzfs = config.storage.existing, config.storage.openzfs
    if existing and openzfs and openzfs.dns_name.startswith(f"{existing.file_system_id}."):
        message = "is the file system of `existing`, which is FSx for Lustre; name the one for homes, or remove this section"
        yield Problem(("storage", "openzfs", "dns_name"), openzfs.dns_name, message)


@rule("existing-bucket-is-kept", "storage.data_bucket")
def existing_bucket_is_kept(config: ClusterConfig) -> Iterator[Problem]:
    """`removal: destroy` is for a data bucket of ours; an existing bucket is never deleted.

    Whoever reads the file would believe that a destroy empties the bucket.
    """
    bucket = config.storage.data_bucket
    if bucket.existing is not None and bucket.removal is Removal.DESTROY:
        path = ("storage", "data_bucket", "removal")
        yield Problem(path, str(bucket.removal), f"bucket {bucket.existing} is not ours to delete; remove this line")


@rule("data-outlives-the-stack", "storage.lustre", "storage.data_bucket", "removal", level=Level.WARNING)
def data_outlives_the_stack(config: ClusterConfig) -> Iterator[Problem]:
    """`cdk destroy` keeps the file system and the data bucket (`removal: retain`).

    What was in them is gone with the stack, also when a change that replaces the stack's resources was not meant to.
    """
    lustre, bucket = config.storage.lustre, config.storage.data_bucket
    message = "`cdk destroy` deletes all that is in it; set `retain`, or silence this with the reason"
    if config.removal is Removal.RETAIN:
        return  # retained-with-its-storage tells
    if lustre and lustre.removal is Removal.DESTROY:
        yield Problem(("storage", "lustre", "removal"), lustre.removal.value, message)
    if bucket.existing is None and bucket.removal is Removal.DESTROY:
        yield Problem(("storage", "data_bucket", "removal"), bucket.removal.value, message)
