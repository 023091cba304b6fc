"""Facts of S3: versions, deletions and refusals."""

from typing import Any

from tests.contract.aws_facts.engine import Engine
from tests.contract.aws_facts.fact import fact, refusal

API = "LocalStack, tests/aws/services/s3/test_s3_api.py"
KEY = "key"


def bucket(judge: Engine, *bodies: bytes, versioned: bool = False) -> str:
    """Return a new bucket with an object that was written some times."""
    s3, name = judge.client("s3"), judge.name()
    s3.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": s3.meta.region_name})
    judge.later(s3.delete_bucket, Bucket=name)
    if versioned:
        s3.put_bucket_versioning(Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    for body in bodies:
        version = s3.put_object(Bucket=name, Key=KEY, Body=body).get("VersionId")
        judge.later(s3.delete_object, Bucket=name, Key=KEY, **({"VersionId": version} if version else {}))
    return name


def deleted(judge: Engine, name: str, **each: str) -> dict[str, Any]:
    """Delete an object with DeleteObjects and return the answer."""
    answer: dict[str, Any] = judge.client("s3").delete_objects(Bucket=name, Delete={"Objects": [{"Key": KEY, **each}]})
    for made in answer.get("Deleted", []):
        if version := made.get("DeleteMarkerVersionId"):
            judge.later(judge.client("s3").delete_object, Bucket=name, Key=KEY, VersionId=version)
    return answer


@fact("s3-bucket-not-empty", says="a bucket with an object stays", source=API, date="2023-07-27", expected="BucketNotEmpty")
def not_empty(judge: Engine) -> str:
    return refusal(judge.client("s3").delete_bucket, Bucket=bucket(judge, b"1"))


@fact("s3-bucket-versions", says="a bucket with old versions stays", source=API, date="2023-08-01", expected="BucketNotEmpty")
def only_versions(judge: Engine) -> str:
    name = bucket(judge, b"1", versioned=True)
    deleted(judge, name)
    return refusal(judge.client("s3").delete_bucket, Bucket=name)


@fact("s3-delete-hides", says="a deleted object's versions stay", source=API, date="2025-01-21", expected=["NoSuchKey", 2, 1])
def hidden(judge: Engine) -> list[Any]:
    name, s3 = bucket(judge, b"1", b"2", versioned=True), judge.client("s3")
    deleted(judge, name)
    found = s3.list_object_versions(Bucket=name)
    return [refusal(s3.get_object, Bucket=name, Key=KEY), len(found["Versions"]), len(found["DeleteMarkers"])]


@fact("s3-old-version", says="an old version is still read", source=API, date="2025-01-21", expected=b"1")
def old_version(judge: Engine) -> bytes:
    name, s3 = bucket(judge, b"1", b"2", versioned=True), judge.client("s3")
    oldest = s3.list_object_versions(Bucket=name)["Versions"][-1]["VersionId"]
    body: bytes = s3.get_object(Bucket=name, Key=KEY, VersionId=oldest)["Body"].read()
    return body


@fact("s3-delete-absent", says="what is absent is deleted", source=API, date="2025-01-21", expected=[KEY])
def absent(judge: Engine) -> list[str]:
    return [each["Key"] for each in deleted(judge, bucket(judge))["Deleted"]]


@fact("s3-batch-wrong-version", says="a wrong version is an error", source=API, date="2026-02-23", expected=["NoSuchVersion"])
def wrong_version(judge: Engine) -> list[str]:
    other = bucket(judge, b"1", versioned=True)
    version = judge.client("s3").list_object_versions(Bucket=other)["Versions"][0]["VersionId"]
    answer = deleted(judge, bucket(judge, b"1", versioned=True), VersionId=version)
    return [each["Code"] for each in answer.get("Errors", [])]


@fact("s3-missing-bucket", says="an unknown bucket fails", source=API, date="2025-01-21", expected="NoSuchBucket")
def missing(judge: Engine) -> str:
    return refusal(judge.client("s3").list_object_versions, Bucket=judge.name())
