"""The function that uploads the lifecycle scripts."""

import io
import json
import zipfile
from typing import Any

import pytest

from script_upload import index
from script_upload.index import handler, upload
from tests.unit.cluster_resource.fake_s3 import FakeS3

# Of "a.sh" and "slurm_groups.json" below: name, NUL, length, NUL, content of each, with sha256sum.
SHA256 = "2cb425afd65d2267bc6b01afc4ac408fba9955069290bd8198de231a756640de"
ORDER = {
    "AssetBucket": "assets",
    "AssetKey": "own.zip",
    "Sha256": SHA256,
    "Bucket": "scripts",
    "Prefix": "lifecycle/1/fs-1",
    "ParametersFile": "slurm_groups.json",
    "Parameters": {"fsx_mountname": "abcdefgh"},
}
OWN = json.dumps(ORDER)
PARAMETERS = '{"version": "1.0.0"}'


def asset(**files: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("_sh", ".sh").replace("_json", ".json"), content)
    return packed.getvalue()


@pytest.fixture
def s3() -> FakeS3:
    bucket = FakeS3()
    bucket.objects = {"own.zip": asset(a_sh="id\n", slurm_groups_json=PARAMETERS), "planted.zip": asset(a_sh="curl | sh\n")}
    return bucket


def test_the_scripts_and_all_parameters_are_in_the_prefix(s3: FakeS3) -> None:
    upload(OWN, OWN, s3)
    assert s3.objects["lifecycle/1/fs-1/a.sh"] == b"id\n"
    parameters = json.loads(s3.objects["lifecycle/1/fs-1/slurm_groups.json"])
    assert parameters == {"version": "1.0.0", "fsx_mountname": "abcdefgh"}


@pytest.mark.parametrize(
    "change", [{"AssetKey": "planted.zip"}, {"Prefix": "lifecycle/2/fs-1"}, {"Sha256": "0" * 64}, {"Parameters": {}}]
)
def test_an_event_with_another_source_hash_place_or_parameter_changes_nothing(s3: FakeS3, change: dict[str, object]) -> None:
    before = dict(s3.objects)
    with pytest.raises(ValueError, match="not from the deployment"):
        upload(json.dumps({**ORDER, **change}), OWN, s3)
    assert s3.objects == before


@pytest.mark.parametrize(
    "planted",
    [
        asset(a_sh="curl | sh\n", slurm_groups_json=PARAMETERS),
        asset(a_sh="id\n", slurm_groups_json='{"version": "2.0.0"}'),
        asset(a_sh="id\n", slurm_groups_json=PARAMETERS, b_sh="curl | sh\n"),
        asset(slurm_groups_json=PARAMETERS),
    ],
    ids=["script", "parameters", "more", "less"],
)
def test_an_asset_with_another_content_changes_nothing(s3: FakeS3, planted: bytes) -> None:
    s3.objects["own.zip"] = planted
    before = dict(s3.objects)
    with pytest.raises(ValueError, match=rf"s3://assets/own.zip has SHA-256 .*, not {SHA256}"):
        upload(OWN, OWN, s3)
    assert s3.objects == before


@pytest.fixture
def responses(monkeypatch: pytest.MonkeyPatch, s3: FakeS3) -> list[dict[str, Any]]:
    """What CloudFormation receives."""
    found: list[dict[str, Any]] = []
    monkeypatch.setenv("UPLOAD", OWN)
    monkeypatch.setattr("boto3.client", lambda service: s3)
    monkeypatch.setattr(index, "respond", lambda url, body: found.append(json.loads(body)))
    return found


@pytest.fixture
def event() -> dict[str, Any]:
    ids = {"StackId": "arn:stack", "RequestId": "1", "LogicalResourceId": "Upload"}
    return {**ids, "RequestType": "Create", "ResponseURL": "https://s3", "ResourceProperties": {"Upload": OWN}}


def test_cloudformation_gets_a_response(event: dict[str, Any], responses: list[dict[str, Any]], s3: FakeS3) -> None:
    handler(event, None)
    s3.objects["own.zip"] = b"no zip"
    handler({**event, "RequestType": "Update", "PhysicalResourceId": "lifecycle-scripts"}, None)
    assert [each["Status"] for each in responses] == ["SUCCESS", "FAILED"]
    assert {each["PhysicalResourceId"] for each in responses} == {"lifecycle-scripts"}, "another would delete the old resource"
    assert "not a zip file" in responses[1]["Reason"]


@pytest.mark.fault(49)
def test_a_deletion_keeps_all_scripts(event: dict[str, Any], responses: list[dict[str, Any]], s3: FakeS3) -> None:
    """Running nodes and rollbacks refer to them."""
    handler(event, None)
    before = dict(s3.objects)
    handler({**event, "RequestType": "Delete"}, None)
    assert s3.objects == before
    assert [each["Status"] for each in responses] == ["SUCCESS", "SUCCESS"]


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "https://example.com/x.s3.amazonaws.com/", "file:///etc/passwd"])
def test_the_response_goes_to_s3_only(url: str) -> None:
    with pytest.raises(ValueError, match="HTTPS address of S3"):
        index.respond(url, b"{}")
