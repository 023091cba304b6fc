"""Rules about the links between the file system and buckets."""

import re
from collections.abc import Iterator
from itertools import combinations

from config.entries import numbered
from config.errors import Level, Path, Problem
from config.model import ClusterConfig
from config.rules.registry import rule
from config.storage import DataRepositoryAssociation, FileEvent
from config.zones import regions

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
    """No association's directory or bucket prefix is the same as another's or lies within it.

    FSx refuses overlapping links, and a file in two of them would have no one place in S3.
    """
    for (first, one), (second, other) in combinations(numbered(config.storage.data_repository_associations), 2):
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


@rule("association-values", ENTRIES)
def association_values(config: ClusterConfig) -> Iterator[Problem]:
    """An association's directory has no `.` or `..` in it, and its events name each kind once.

    FSx refuses them, and the deployment rolls back once the file system is made.
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
        bucket = association.bucket or config.storage.data_bucket.existing
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
        if copies and (_within(directory, association.path) or _within(association.path, directory)):
            yield Problem((*ASSOCIATIONS, index, "path"), association.path, message)


def _region_in(bucket: str) -> str | None:
    """The region that the bucket's name holds, if it holds one."""
    return next((region for region in regions() if re.search(rf"(^|[.-]){region}([.-]|$)", bucket)), None)


def _repeated_events(association: DataRepositoryAssociation, path: Path) -> Iterator[Problem]:
    lists: dict[str, tuple[FileEvent, ...]] = {"auto_import": association.auto_import, "auto_export": association.auto_export}
    for name, events in lists.items():
        if len(set(events)) != len(events):
            yield Problem((*path, name), [str(event) for event in events], "names an event twice; keep each once")


def _within(inner: str, outer: str) -> bool:
    """Tell whether the path ``inner`` is ``outer`` or lies below it."""
    base = outer.strip("/")
    return not base or f"{inner.strip('/')}/".startswith(f"{base}/")
