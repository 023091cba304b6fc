"""Facts of S3: versions, deletions and refusals."""

from typing import Any

from tests.contract.aws_facts.engine import Engine
from tests.contract.aws_facts.fact import fact, refusal

API, DATE = "localstack s3/test_s3_api.py::test_delete_", "2026-02-21"
VERSIONS, OLD = API + "versioned_bucket_with_objects", API + "object_versioned"
KEY = "key"


def bucket(judge: Engine, *bodies: bytes) -> str:
    """Return a new bucket with an object that was written some times."""
    s3, name = judge.client("s3"), judge.name()
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": s3.meta.region_name})
    judge.later(s3.delete_bucket, Bucket=name)
    judge.later(empty, judge=judge, name=name)
    s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    for body in bodies:
        s3.put_object(Bucket=name, Key=KEY, Body=body)
    return name


def empty(judge: Engine, name: str) -> None:
    """Delete all versions."""
    found = versions(judge, name)
    for each in found.get("Versions", []) + found.get("DeleteMarkers", []):
        deleted(judge, name, VersionId=each["VersionId"])


def versions(judge: Engine, name: str) -> dict[str, Any]:
    return dict(judge.client("s3").list_object_versions(Bucket=name))


def deleted(judge: Engine, name: str, **each: str) -> dict[str, Any]:
    """Delete the object with DeleteObjects and return the answer."""
    return dict(judge.client("s3").delete_objects(Bucket=name, Delete={"Objects": [{"Key": KEY, **each}]}))


@fact("s3-bucket-versions", "a bucket with old versions stays", VERSIONS, DATE, "BucketNotEmpty")
def only_versions(judge: Engine) -> str:
    name = bucket(judge, b"1")
    deleted(judge, name)
    return refusal(judge.client("s3").delete_bucket, Bucket=name)


@fact("s3-delete-hides", "a deleted object's versions stay", OLD, DATE, ["NoSuchKey", 2, 1])
def hidden(judge: Engine) -> list[Any]:
    name = bucket(judge, b"1", b"2")
    deleted(judge, name)
    found = versions(judge, name)
    return [refusal(judge.client("s3").get_object, Bucket=name, Key=KEY), len(found["Versions"]), len(found["DeleteMarkers"])]


@fact("s3-old-version", "an old version is still read", OLD, DATE, b"1")
def old_version(judge: Engine) -> bytes:
    name = bucket(judge, b"1", b"2")
    oldest = versions(judge, name)["Versions"][-1]["VersionId"]
    return bytes(judge.client("s3").get_object(Bucket=name, Key=KEY, VersionId=oldest)["Body"].read())


@fact("s3-batch-wrong-version", "a wrong version is an error", API + "objects_versioned", "2026-02-23", ["NoSuchVersion"])
def wrong_version(judge: Engine) -> list[str]:
    other = versions(judge, bucket(judge, b"1"))["Versions"][0]["VersionId"]
    return [each["Code"] for each in deleted(judge, bucket(judge, b"1"), VersionId=other).get("Errors", [])]
