"""Facts of S3: the versions of deleted objects."""

from typing import Any

from tests.contract.aws_facts.engine import Engine
from tests.contract.aws_facts.fact import fact, refusal

TESTS, KEY = "localstack s3/test_s3_api.py::test_delete_", "key"
BUCKET, OBJECT, BATCH = TESTS + "versioned_bucket_with_objects", TESTS + "object_versioned", TESTS + "objects_versioned"


def bucket(judge: Engine, *bodies: bytes) -> str:
    """Return a new bucket with an object that was written some times."""
    s3, name = judge.client("s3"), judge.name()
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": s3.meta.region_name})
    judge.later(s3.delete_bucket, Bucket=name)
    judge.later(empty, s3=s3, name=name)
    s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    for body in bodies:
        s3.put_object(Bucket=name, Key=KEY, Body=body)
    return name


def empty(s3: Any, name: str) -> None:
    """Delete all versions of the object."""
    found = s3.list_object_versions(Bucket=name)
    for each in found.get("Versions", []) + found.get("DeleteMarkers", []):
        s3.delete_object(Bucket=name, Key=KEY, VersionId=each["VersionId"])


@fact("s3-bucket-versions", "a bucket with old versions stays", BUCKET, "2026-02-21", "BucketNotEmpty")
def old_versions(judge: Engine) -> str:
    s3, name = judge.client("s3"), bucket(judge, b"1")
    s3.delete_object(Bucket=name, Key=KEY)
    return refusal(s3.delete_bucket, Bucket=name)


@fact("s3-delete-hides", "a deleted object's versions stay", OBJECT, "2026-02-21", ["NoSuchKey", 2, 1])
def hidden(judge: Engine) -> list[Any]:
    s3, name = judge.client("s3"), bucket(judge, b"1", b"2")
    s3.delete_object(Bucket=name, Key=KEY)
    found = s3.list_object_versions(Bucket=name)
    return [refusal(s3.get_object, Bucket=name, Key=KEY), len(found["Versions"]), len(found["DeleteMarkers"])]


@fact("s3-batch-wrong-version", "a version that S3 never gave is an error", BATCH, "2026-02-23", ["NoSuchVersion"])
def wrong_version(judge: Engine) -> list[str]:
    unknown = {"Objects": [{"Key": KEY, "VersionId": "HPniJFCxqTsMuIH9KX8K8wEjNUgmABCD"}]}
    answer = judge.client("s3").delete_objects(Bucket=bucket(judge, b"1"), Delete=unknown)
    return [each["Code"] for each in answer.get("Errors", [])]
