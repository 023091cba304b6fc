"""Check that names of new buckets are free, and that named buckets exist."""

from collections.abc import Iterator

from botocore.exceptions import ClientError

from cli.aws_errors import unless_absent
from cli.preflight.account import Account, Json
from cli.preflight.check import CheckResult, error, is_denied, ok, warning
from config.bucket_names import script_bucket_name


def script_bucket(account: Account) -> Iterator[CheckResult]:
    """Check that the name of the script bucket, which is the same for every deployment, is free or the file's own."""
    name = script_bucket_name(account.config.name, account.id, account.region)
    try:
        found = unless_absent(lambda: account.client("s3").head_bucket(Bucket=name))
    except ClientError as failure:
        if not is_denied(failure) or not _region(failure.response):
            raise
        yield _kept_out(account, name)
    else:
        yield ok(f"the name {name} is free") if found is None else _taken(account, name)


def _region(answer: Json) -> str | None:
    """Return the region of the bucket, which S3 reports also without access, but not for a bucket that does not exist.

    botocore finds the region of buckets by the same header of a refused HeadBucket (S3RegionRedirectorv2 in
    https://github.com/boto/botocore/blob/develop/botocore/utils.py).
    """
    region: str | None = answer.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("x-amz-bucket-region")
    return region


def _kept_out(account: Account, name: str) -> CheckResult:
    if "Cluster" in account.stacks:
        return warning(f"bucket {name} exists, but you may not read it", "check that this file's stack owns it")
    return error(
        f"bucket {name} exists, but you have no access: another account owns it, or a policy denies it",
        "rename the cluster file: the bucket's name contains it, the account and the region",
    )


def _taken(account: Account, name: str) -> CheckResult:
    if "Cluster" in account.stacks:
        return ok(f"bucket {name} belongs to this file")
    return error(
        f"bucket {name} already exists, and no stack of this file owns it",
        "if you do not need its content, delete its policy, all object versions and the bucket; or rename the cluster's file",
    )


def named_buckets(account: Account) -> Iterator[CheckResult]:
    """Check that every bucket in the file exists, and that a file system imports only from its own region."""
    storage = account.config.storage
    links = storage.data_repository_associations
    imported = {
        each.bucket or storage.data_bucket.existing for each in links if each.auto_import or each.import_metadata_on_create
    }
    for name in dict.fromkeys(each for each in (storage.data_bucket.existing, *(link.bucket for link in links)) if each):
        yield _named(account, name, is_imported=name in imported)


def _named(account: Account, name: str, *, is_imported: bool) -> CheckResult:
    is_read = True
    try:
        answer = unless_absent(lambda: account.client("s3").head_bucket(Bucket=name))
    except ClientError as failure:
        is_read, answer = False, failure.response
        if not is_denied(failure) and _region(answer) in (None, account.region):
            raise
    if answer is None:
        return error(f"no bucket {name}", "correct the name, or create the bucket")
    region = _region(answer) or account.region
    if region != account.region:
        return _elsewhere(name, region, account.region, is_imported=is_imported)
    if not is_read:
        return warning(f"you may not read bucket {name}", f"check that it exists in {account.region}")
    return ok(f"bucket {name} is there")


def _elsewhere(name: str, region: str, wanted: str, *, is_imported: bool) -> CheckResult:
    """Report a bucket in another region, to which only exports may go.

    https://docs.aws.amazon.com/fsx/latest/LustreGuide/autoexport-data-repo-dra.html
    """
    if not is_imported:
        return ok(f"bucket {name} is there, in {region}: exports only, charged as cross-region traffic")
    return error(
        f"bucket {name} is in {region}, and a file system imports only from its own region, {wanted}",
        f"use a bucket in {wanted}",
    )
