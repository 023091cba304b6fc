"""Rules about the links between the file system and buckets."""

import re
from collections.abc import Iterator
from itertools import combinations

from config.errors import Level, Path, Problem
from config.model import ClusterConfig
from config.storage import DataRepositoryAssociation, FileEvent
from config.zones import regions
from validation.entries import numbered
from validation.rules.registry import rule

ASSOCIATIONS: Path = ("storage", "data_repository_associations")
ENTRIES = "storage.data_repository_associations[]"
MOUNT = "/fsx"


@rule("associations-need-a-file-system", "storage.lustre", "storage.existing", "storage.data_repository_associations")
def associations_need_a_file_system(config: ClusterConfig) -> Iterator[Problem]:
    """Data repository associations need a file system.

    The links would be written in the file and not be there.
    """
    storage = config.storage
    if storage.data_repository_associations and storage.lustre is None and storage.existing is None:
        paths = [association.path for association in storage.data_repository_associations]
        yield Problem(ASSOCIATIONS, paths, "there is no file system to link; add `lustre` or `existing` beside it")


@rule("associations-apart", ENTRIES)
def associations_apart(config: ClusterConfig) -> Iterator[Problem]:
    """No association's directory is the same as another's or lies within it.

    FSx refuses overlapping links once the file system is made.
    """
    # https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html
    for (first, one), (second, other) in combinations(numbered(config.storage.data_repository_associations), 2):
        if _overlap(one.path, other.path):
            message = (
                f"overlaps {one.path!r} of data_repository_associations[{first}]; link directories that lie beside each other"
            )
            yield Problem((*ASSOCIATIONS, second, "path"), other.path, message)


@rule("one-link-of-a-prefix", ENTRIES, "storage.data_bucket.existing")
def one_link_of_a_prefix(config: ClusterConfig) -> Iterator[Problem]:
    """No two associations have the same prefix of the same bucket.

    FSx takes one link for each, and refuses another once the file system is made.
    """
    # https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html
    for (first, one), (second, other) in combinations(numbered(config.storage.data_repository_associations), 2):
        if _bucket(one, config) == _bucket(other, config) and one.prefix == other.prefix:
            message = f"is that of data_repository_associations[{first}] in the same bucket; link another one"
            yield Problem((*ASSOCIATIONS, second, "prefix"), other.prefix, message)


@rule("prefixes-apart", ENTRIES, "storage.data_bucket.existing", level=Level.WARNING)
def prefixes_apart(config: ClusterConfig) -> Iterator[Problem]:
    """No association's prefix lies within another's in the same bucket.

    An object there is in two directories of the file system: what is changed in the one, the other does not have until it is
    imported again. FSx asks for prefixes that are not the same, and says no more.
    """
    for (first, one), (second, other) in combinations(numbered(config.storage.data_repository_associations), 2):
        is_shared = _bucket(one, config) == _bucket(other, config) and one.prefix != other.prefix
        if is_shared and _overlap(one.prefix, other.prefix):
            message = (
                f"overlaps {one.prefix!r} of data_repository_associations[{first}] in the same bucket; "
                "use prefixes that lie beside each other, or silence this"
            )
            yield Problem((*ASSOCIATIONS, second, "prefix"), other.prefix, message)


@rule("association-values", ENTRIES, level=Level.WARNING)
def association_values(config: ClusterConfig) -> Iterator[Problem]:
    """An association's directory has no `.` or `..` in it, and its events name each kind once.

    What FSx makes of them is not documented: where it refuses them, the deployment rolls back once the file system is made.
    """
    for index, association in numbered(config.storage.data_repository_associations):
        if {".", ".."} & set(association.path.split("/")):
            yield Problem(
                (*ASSOCIATIONS, index, "path"), association.path, "must not go through . or ..; write the directory itself"
            )
        yield from _repeated_events(association, (*ASSOCIATIONS, index))


@rule("paths-within-the-file-system", ENTRIES, level=Level.WARNING)
def paths_within_the_file_system(config: ClusterConfig) -> Iterator[Problem]:
    """An association's directory is named from the file system's own root, without `/fsx`, where nodes mount it.

    `/fsx/data` would be /fsx/fsx/data on the nodes: jobs look in /fsx/data and find it empty.
    """
    for index, association in numbered(config.storage.data_repository_associations):
        if _within(association.path, MOUNT):
            meant = association.path.removeprefix(MOUNT) or "/"
            message = f"would be {MOUNT}{association.path} on the nodes, which mount the file system there; did you mean {meant}?"
            yield Problem((*ASSOCIATIONS, index, "path"), association.path, message)


@rule("homes-apart-from-buckets", ENTRIES, "storage.openzfs", level=Level.WARNING)
def homes_apart_from_buckets(config: ClusterConfig) -> Iterator[Problem]:
    """No association covers `/home` of the file system, where people's homes are unless `storage.openzfs` holds them.

    Their keys and passwords would be copied to the bucket, and a file that somebody changes there would come into their home.
    """
    if config.storage.openzfs is None:
        message = "covers the homes, which are in /fsx/home; link another directory, or add `storage.openzfs` for the homes"
        yield from _covering("/home", config, message)


@rule("state-apart-from-buckets", ENTRIES, "slurm.state_folder", level=Level.WARNING)
def state_apart_from_buckets(config: ClusterConfig) -> Iterator[Problem]:
    """No association covers `slurm.state_folder`.

    slurmctld writes its state all the time: each write would go to the bucket, and an older one could come back over it.
    """
    folder = config.slurm.state_folder
    if folder is not None and folder.startswith(f"{MOUNT}/"):  # of other folders, state-on-shared-storage tells
        message = f"covers slurmctld's state in {folder}; link another directory, or move `slurm.state_folder`"
        yield from _covering(folder.removeprefix(MOUNT), config, message)


@rule("bucket-of-the-region", ENTRIES, "storage.data_bucket", "region", level=Level.WARNING)
def bucket_of_the_region(config: ClusterConfig) -> Iterator[Problem]:
    """A linked bucket's name does not say that it is in another region.

    FSx imports from buckets of its own region alone, and refuses the link once the file system is made.
    """
    # https://docs.aws.amazon.com/fsx/latest/LustreGuide/autoexport-data-repo-dra.html: exports may go to another region.
    for index, association in numbered(config.storage.data_repository_associations):
        bucket = _bucket(association, config)
        path: Path = (*ASSOCIATIONS, index, "bucket") if association.bucket else ("storage", "data_bucket", "existing")
        named = _region_in(bucket or "")
        imports = association.auto_import or association.import_metadata_on_create
        if config.region and named not in (None, config.region) and imports:
            message = (
                f"looks like a bucket of {named}, and FSx imports from {config.region} alone; use a bucket of {config.region}"
            )
            yield Problem(path, bucket, message)


@rule("data-bucket-is-linked", "storage.data_bucket", "storage.data_repository_associations", level=Level.WARNING)
def data_bucket_is_linked(config: ClusterConfig) -> Iterator[Problem]:
    """An existing `data_bucket` is linked by an association, which is one that names no other bucket.

    It would be written in the file and do nothing: no file reaches it or comes from it.
    """
    bucket = config.storage.data_bucket.existing
    if bucket and all(one.bucket for one in config.storage.data_repository_associations):
        message = "no association links it; add one without `bucket` to `data_repository_associations`, or remove this line"
        yield Problem(("storage", "data_bucket", "existing"), bucket, message)


def _covering(directory: str, config: ClusterConfig, message: str) -> Iterator[Problem]:
    """The problem of each association that covers the directory, and copies anything."""
    for index, association in numbered(config.storage.data_repository_associations):
        copies = association.auto_import or association.auto_export or association.import_metadata_on_create
        if copies and _overlap(directory, association.path):
            yield Problem((*ASSOCIATIONS, index, "path"), association.path, message)


def _region_in(bucket: str) -> str | None:
    """The region that the bucket's name holds, if it holds one."""
    return next((region for region in regions() if re.search(rf"(^|[.-]){region}([.-]|$)", bucket)), None)


def _repeated_events(association: DataRepositoryAssociation, path: Path) -> Iterator[Problem]:
    lists: dict[str, tuple[FileEvent, ...]] = {"auto_import": association.auto_import, "auto_export": association.auto_export}
    for name, events in lists.items():
        if len(set(events)) != len(events):
            yield Problem((*path, name), [str(event) for event in events], "names an event twice; keep each once")


def _bucket(association: DataRepositoryAssociation, config: ClusterConfig) -> str | None:
    """The bucket that is linked; None is the one that we make."""
    return association.bucket or config.storage.data_bucket.existing


def _overlap(one: str, other: str) -> bool:
    return _within(one, other) or _within(other, one)


def _within(inner: str, outer: str) -> bool:
    """Tell whether the path ``inner`` is ``outer`` or lies below it."""
    base = outer.strip("/")
    return not base or f"{inner.strip('/')}/".startswith(f"{base}/")
