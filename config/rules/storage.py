"""Rules about the file system, its associations and the data bucket."""

from collections.abc import Iterator
from itertools import combinations

from config.errors import Level, Path, Problem
from config.model import ClusterConfig
from config.rules.registry import rule
from config.section import Removal
from config.storage import DataRepositoryAssociation, DeploymentType, FileEvent

# https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-throughput-capacity.html
THROUGHPUTS = {DeploymentType.PERSISTENT_1: (50, 100, 200), DeploymentType.PERSISTENT_2: (125, 250, 500, 1000)}

ASSOCIATIONS: Path = ("storage", "data_repository_associations")


@rule("one-file-system", "storage")
def one_file_system(config: ClusterConfig) -> Iterator[Problem]:
    """The file system is a new one (`lustre`) or one that is there already (`existing`), not both.

    Nodes mount one at /fsx, and data in the other would be where nobody looks.
    """
    if config.storage.lustre is not None and config.storage.existing is not None:
        message = "the nodes mount one file system, and `lustre` describes a new one; remove `existing` or `lustre`"
        yield Problem(("storage", "existing"), config.storage.existing.file_system_id, message)


@rule("storage-capacity", "storage")
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


@rule("throughput-of-deployment-type", "storage")
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


@rule("version-of-deployment-type", "storage")
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


@rule("associations-need-a-file-system", "storage")
def associations_need_a_file_system(config: ClusterConfig) -> Iterator[Problem]:
    """Data repository associations need a file system.

    The links would be written in the file and not be there.
    """
    storage = config.storage
    if storage.data_repository_associations and storage.lustre is None and storage.existing is None:
        paths = [association.path for association in storage.data_repository_associations]
        yield Problem(ASSOCIATIONS, paths, "there is no file system to link; add `lustre` or `existing` beside it")


@rule("associations-apart", "storage")
def associations_apart(config: ClusterConfig) -> Iterator[Problem]:
    """No association's directory or bucket prefix is the same as another's or lies within it.

    FSx refuses overlapping links, and a file in two of them would have no one place in S3.
    """
    for (first, one), (second, other) in combinations(enumerate(config.storage.data_repository_associations), 2):
        if _within(one.path, other.path) or _within(other.path, one.path):
            message = (
                f"overlaps {one.path!r} of data_repository_associations[{first}]; link directories that lie beside each other"
            )
            yield Problem((*ASSOCIATIONS, second, "path"), other.path, message)
        if one.bucket == other.bucket and (_within(one.prefix, other.prefix) or _within(other.prefix, one.prefix)):
            message = (
                f"overlaps {one.prefix!r} of data_repository_associations[{first}] in the same bucket; "
                "use prefixes that lie beside each other"
            )
            yield Problem((*ASSOCIATIONS, second, "prefix"), other.prefix, message)


@rule("association-values", "storage")
def association_values(config: ClusterConfig) -> Iterator[Problem]:
    """An association's directory has no `.` or `..` in it, and its events name each kind once.

    FSx refuses them, and the deployment rolls back once the file system is made.
    """
    for index, association in enumerate(config.storage.data_repository_associations):
        if {".", ".."} & set(association.path.split("/")):
            yield Problem(
                (*ASSOCIATIONS, index, "path"), association.path, "must not go through . or ..; write the directory itself"
            )
        yield from _repeated_events(association, (*ASSOCIATIONS, index))


@rule("existing-bucket-is-kept", "storage")
def existing_bucket_is_kept(config: ClusterConfig) -> Iterator[Problem]:
    """`removal` is for a data bucket of ours; an existing bucket is never deleted.

    Whoever reads the file would believe that a destroy empties the bucket.
    """
    bucket = config.storage.data_bucket
    if bucket.existing is not None and "removal" in bucket.model_fields_set:
        path = ("storage", "data_bucket", "removal")
        yield Problem(path, str(bucket.removal), f"bucket {bucket.existing} is not ours to delete; remove this line")


@rule("data-outlives-the-stack", "storage", "removal", level=Level.WARNING)
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


def _repeated_events(association: DataRepositoryAssociation, path: Path) -> Iterator[Problem]:
    lists: dict[str, tuple[FileEvent, ...]] = {"auto_import": association.auto_import, "auto_export": association.auto_export}
    for name, events in lists.items():
        if len(set(events)) != len(events):
            yield Problem((*path, name), [str(event) for event in events], "names an event twice; keep each once")


def _within(inner: str, outer: str) -> bool:
    """Tell whether the path ``inner`` is ``outer`` or lies below it."""
    base = outer.strip("/")
    return not base or f"{inner.strip('/')}/".startswith(f"{base}/")
