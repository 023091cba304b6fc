"""Check data repository associations of an imported file system."""

from collections.abc import Iterator
from typing import Any

from cli.preflight.account import Account
from cli.preflight.check import CheckResult, error, skipped, together, warning

# https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html and, for the storage type,
# https://docs.aws.amazon.com/fsx/latest/APIReference/API_DataRepositoryAssociation.html
MOST = 8
WITHOUT = {"SCRATCH_1": "deployment type", "2.10": "version", "INTELLIGENT_TIERING": "storage type"}
KIND = "AWS::FSx::DataRepositoryAssociation"


def associations(account: Account) -> Iterator[CheckResult]:
    """Check that the file system has room for the associations, and that their directories are free."""
    storage = account.config.storage
    if storage.existing is None or not storage.data_repository_associations:
        yield skipped("the file links no existing file system")
        return
    file_system_id = storage.existing.file_system_id
    filters = [{"Name": "file-system-id", "Values": [file_system_id]}]
    listed = account.all("fsx", "describe_data_repository_associations", "Associations", Filters=filters)
    own = _own(account)
    others = [each for each in listed if each["AssociationId"] not in own and each["Lifecycle"] != "DELETING"]
    yield from together(
        account,
        _overlaps(account, file_system_id, others),
        _room(account, file_system_id, others),
        _kind(account, file_system_id),
        well=f"{file_system_id} has {len(others)} others, and has room for {len(storage.data_repository_associations)}",
    )


def _own(account: Account) -> set[str]:
    """Return the associations of the file's own stack."""
    if "Storage" not in account.stacks:
        return set()
    return {each["PhysicalResourceId"] for each in account.resources("Storage") if each["ResourceType"] == KIND}


def _overlaps(account: Account, file_system_id: str, others: list[dict[str, Any]]) -> Iterator[CheckResult]:
    for wanted in account.config.storage.data_repository_associations:
        for each in others:
            path, where = each["FileSystemPath"], f"{each['DataRepositoryPath']} already ({each['AssociationId']})"
            if overlap(wanted.path, path):
                yield error(
                    f"{file_system_id} links {path} to {where}, and {wanted.path} overlaps with it",
                    "choose another `path`, or delete that association",
                )


def overlap(path: str, other: str) -> bool:
    """Return whether one of two directories or prefixes contains the other."""
    one, two = f"{path.rstrip('/')}/", f"{other.rstrip('/')}/"
    return one.startswith(two) or two.startswith(one)


def _room(account: Account, file_system_id: str, others: list[dict[str, Any]]) -> Iterator[CheckResult]:
    asked = len(account.config.storage.data_repository_associations)
    if len(others) + asked > MOST:
        yield error(
            f"{file_system_id} has {len(others)} associations, the file adds {asked}, and the limit is {MOST}",
            "remove some from the file",
        )


def _kind(account: Account, file_system_id: str) -> Iterator[CheckResult]:
    [found] = account.client("fsx").describe_file_systems(FileSystemIds=[file_system_id])["FileSystems"]
    lustre = found.get("LustreConfiguration") or {}
    for value in (lustre.get("DeploymentType"), found.get("FileSystemTypeVersion"), found.get("StorageType")):
        if value in WITHOUT:
            yield error(
                f"{file_system_id} does not support associations: its {WITHOUT[value]} is {value}", "link another file system"
            )
    if lustre.get("AutomaticBackupRetentionDays"):
        yield warning(
            f"{file_system_id} has automatic backups, which FSx does not support for a file system linked to a bucket",
            "turn them off, or remove the associations",
        )
