"""Check the data repository associations between the file system and S3."""

import re
from collections.abc import Iterator
from itertools import combinations

from config.entries import numbered
from config.errors import Level, Path, Problem
from config.model import ClusterConfig, slurm_of
from config.storage import DataRepositoryAssociation, FileEvent, NodeAccess
from config.zones import regions
from validation.rules.registry import rule, slurm_rule

ASSOCIATIONS: Path = ("storage", "data_repository_associations")
ENTRIES = "storage.data_repository_associations[]"
MOUNT = "/fsx"
ADMINISTRATOR = "ubuntu"  # the user of HyperPod's images, whose home is shared, too


@rule("association-without-file-system", "storage.lustre", "storage.existing", "storage.data_repository_associations")
def association_without_file_system(config: ClusterConfig) -> Iterator[Problem]:
    """Data repository associations require a file system.

    Without one, the associations are ignored.
    """
    storage = config.storage
    if storage.data_repository_associations and storage.lustre is None and storage.existing is None:
        paths = [association.path for association in storage.data_repository_associations]
        yield Problem(ASSOCIATIONS, paths, "no file system is configured", "add `storage.lustre` or `storage.existing`")


@rule("overlapping-associations", ENTRIES)
def overlapping_associations(config: ClusterConfig) -> Iterator[Problem]:
    """The directories of two associations must not be the same or contain each other.

    FSx rejects overlapping associations after the file system is created.
    """
    # https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html
    for (first, one), (second, other) in combinations(numbered(config.storage.data_repository_associations), 2):
        if _overlap(one.path, other.path):
            message = f"overlaps {one.path!r} of data_repository_associations[{first}]"
            yield Problem((*ASSOCIATIONS, second, "path"), other.path, message, "use separate directories")


@rule("duplicate-association-prefix", ENTRIES, "storage.data_bucket.existing")
def duplicate_association_prefix(config: ClusterConfig) -> Iterator[Problem]:
    """Two associations must not link the same prefix of the same bucket.

    FSx rejects the second association after the file system is created.
    """
    # https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html
    for (first, one), (second, other) in combinations(numbered(config.storage.data_repository_associations), 2):
        if _bucket(one, config) == _bucket(other, config) and one.prefix == other.prefix:
            message = f"already linked by data_repository_associations[{first}]"
            yield Problem((*ASSOCIATIONS, second, "prefix"), other.prefix, message, "use another prefix")


@rule("overlapping-association-prefixes", ENTRIES, "storage.data_bucket.existing", level=Level.WARNING)
def overlapping_association_prefixes(config: ClusterConfig) -> Iterator[Problem]:
    """An association's prefix should not contain another one in the same bucket.

    Such an object appears in two directories of the file system: a change in one is visible in the other only after the next
    import. FSx rejects only identical prefixes.
    """
    for (first, one), (second, other) in combinations(numbered(config.storage.data_repository_associations), 2):
        is_shared = _bucket(one, config) == _bucket(other, config) and one.prefix != other.prefix
        if is_shared and _overlap(one.prefix, other.prefix):
            message = f"overlaps {one.prefix!r} of data_repository_associations[{first}] in the same bucket"
            fix = "use separate prefixes, or suppress this warning"
            yield Problem((*ASSOCIATIONS, second, "prefix"), other.prefix, message, fix)


@rule("association-values", ENTRIES, level=Level.WARNING)
def association_values(config: ClusterConfig) -> Iterator[Problem]:
    """An association's directory must not contain `.` or `..`, and its event lists must not contain duplicates.

    How FSx handles them is not documented: if it rejects them, the deployment rolls back after the file system is created.
    """
    for index, association in numbered(config.storage.data_repository_associations):
        if {".", ".."} & set(association.path.split("/")):
            yield Problem((*ASSOCIATIONS, index, "path"), association.path, "must not contain . or ..", "use the full path")
        yield from _repeated_events(association, (*ASSOCIATIONS, index))


@rule("association-path", ENTRIES, level=Level.WARNING)
def association_path(config: ClusterConfig) -> Iterator[Problem]:
    """An association's directory is relative to the root of the file system and does not start with `/fsx`.

    Nodes mount the file system at /fsx, so `/fsx/data` is /fsx/fsx/data on the nodes, and /fsx/data is empty.
    """
    for index, association in numbered(config.storage.data_repository_associations):
        if _within(association.path, MOUNT):
            meant = association.path.removeprefix(MOUNT) or "/"
            message = f"is {MOUNT}{association.path} on the nodes"
            yield Problem((*ASSOCIATIONS, index, "path"), association.path, message, f"did you mean {meant}?")


@rule("association-covers-home", ENTRIES, "storage.openzfs", "storage.homes", "users", level=Level.WARNING)
def association_covers_home(config: ClusterConfig) -> Iterator[Problem]:
    """No association may include home directories: `storage.homes`, unless `storage.openzfs` holds them.

    Keys and passwords in home directories would be exported to the bucket, and changes in the bucket imported into home
    directories.
    """
    if config.storage.openzfs is None:
        homes = config.storage.homes
        message = f"includes home directories in {homes}"
        fix = "use another directory, or add `storage.openzfs` for home directories"
        # Directly in /fsx, homes are beside other directories.
        names = (ADMINISTRATOR, *(user.name for user in config.users))
        directories = [f"/{name}" for name in names] if homes == MOUNT else [homes.removeprefix(MOUNT)]
        yield from _covering(directories, config, message, fix)


@slurm_rule("association-covers-slurm-state", ENTRIES, "slurm.state_folder", level=Level.WARNING)
def association_covers_slurm_state(config: ClusterConfig) -> Iterator[Problem]:
    """No association may include `slurm.state_folder`.

    slurmctld writes its state continuously: each write is exported to the bucket, and an import can replace it with an older
    state.
    """
    folder = slurm_of(config).state_folder
    if folder is not None and folder.startswith(f"{MOUNT}/"):  # otherwise state-on-shared-storage reports it
        message = f"includes slurmctld's state in {folder}"
        fix = "use another directory, or move `slurm.state_folder`"
        yield from _covering([folder.removeprefix(MOUNT)], config, message, fix)


@rule("bucket-region", ENTRIES, "storage.data_bucket", "region", level=Level.WARNING)
def bucket_region(config: ClusterConfig) -> Iterator[Problem]:
    """A linked bucket must be in the cluster's region, as far as its name shows.

    FSx imports only from buckets in its own region and rejects the association after the file system is created.
    """
    # https://docs.aws.amazon.com/fsx/latest/LustreGuide/autoexport-data-repo-dra.html: exports may go to another region.
    for index, association in numbered(config.storage.data_repository_associations):
        bucket = _bucket(association, config)
        path: Path = (*ASSOCIATIONS, index, "bucket") if association.bucket else ("storage", "data_bucket", "existing")
        named = _region_in(bucket or "")
        imports = association.auto_import or association.import_metadata_on_create
        if config.region and named not in (None, config.region) and imports:
            message = f"seems to be in {named}, but FSx can import only from {config.region}"
            yield Problem(path, bucket, message, f"use a bucket in {config.region}")


@rule("unlinked-data-bucket", "storage.data_bucket", "storage.data_repository_associations", level=Level.WARNING)
def unlinked_data_bucket(config: ClusterConfig) -> Iterator[Problem]:
    """An existing `data_bucket` without `node_access` must be linked by an association without `bucket`.

    Otherwise it is ignored: no file is imported or exported.
    """
    bucket = config.storage.data_bucket.existing
    is_used = config.storage.data_bucket.node_access is not NodeAccess.NONE
    if bucket and not is_used and all(one.bucket for one in config.storage.data_repository_associations):
        fix = "add one without `bucket` to `data_repository_associations`, or remove this line"
        yield Problem(("storage", "data_bucket", "existing"), bucket, "no association uses this bucket", fix)


@rule("node-access-without-bucket", "storage.data_bucket", "storage.data_repository_associations")
def node_access_without_bucket(config: ClusterConfig) -> Iterator[Problem]:
    """`node_access` requires a data bucket: an existing one, or one that an association without `bucket` links.

    The deployment creates a bucket only for such an association, so there is nothing that nodes can access.
    """
    bucket = config.storage.data_bucket
    is_absent = bucket.existing is None and all(one.bucket for one in config.storage.data_repository_associations)
    if bucket.node_access is not NodeAccess.NONE and is_absent:
        fix = "add `existing`, or an association without `bucket`"
        yield Problem(("storage", "data_bucket", "node_access"), bucket.node_access.value, "there is no data bucket", fix)


def _covering(directories: list[str], config: ClusterConfig, message: str, fix: str) -> Iterator[Problem]:
    """Yield a problem for each association that includes one of the directories and imports or exports anything."""
    for index, association in numbered(config.storage.data_repository_associations):
        copies = association.auto_import or association.auto_export or association.import_metadata_on_create
        if copies and any(_overlap(directory, association.path) for directory in directories):
            yield Problem((*ASSOCIATIONS, index, "path"), association.path, message, fix)


def _region_in(bucket: str) -> str | None:
    """Return the region in the bucket's name, if any."""
    return next((region for region in regions() if re.search(rf"(^|[.-]){region}([.-]|$)", bucket)), None)


def _repeated_events(association: DataRepositoryAssociation, path: Path) -> Iterator[Problem]:
    lists: dict[str, tuple[FileEvent, ...]] = {"auto_import": association.auto_import, "auto_export": association.auto_export}
    for name, events in lists.items():
        if len(set(events)) != len(events):
            yield Problem((*path, name), [str(event) for event in events], "has duplicate events", "list each event once")


def _bucket(association: DataRepositoryAssociation, config: ClusterConfig) -> str | None:
    """Return the linked bucket; None is the bucket that the stack creates."""
    return association.bucket or config.storage.data_bucket.existing


def _overlap(one: str, other: str) -> bool:
    return _within(one, other) or _within(other, one)


def _within(inner: str, outer: str) -> bool:
    """Return whether the path ``inner`` is ``outer`` or is below it."""
    base = outer.strip("/")
    return not base or f"{inner.strip('/')}/".startswith(f"{base}/")
