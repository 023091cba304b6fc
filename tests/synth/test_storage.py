"""The Storage stack."""

import pytest
from aws_cdk.assertions import Match

from tests.synth.synthesized import STORAGE, StackTemplate, Synthesized
from tests.synth.variants import EXISTING_FILE_SYSTEM


@pytest.fixture
def storage(shipped: Synthesized) -> StackTemplate:
    return shipped["reference", STORAGE]


def test_persistent_1_is_supported(variants: Synthesized) -> None:
    variants["persistent-1", STORAGE].assertions.has_resource_properties(
        "AWS::FSx::FileSystem",
        {"LustreConfiguration": Match.object_like({"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 100})},
    )


def test_an_existing_bucket_is_linked_and_not_changed(variants: Synthesized) -> None:
    storage = variants["existing-bucket", STORAGE]
    assert not storage.of_type("AWS::S3::Bucket", "AWS::S3::BucketPolicy")
    assert storage.properties("AWS::FSx::DataRepositoryAssociation")["DataRepositoryPath"] == "s3://datasets/"
    assert storage.outputs["DataBucketName"] == "datasets"


def test_an_existing_file_system_is_linked_and_not_changed(variants: Synthesized) -> None:
    storage = variants["existing-storage", STORAGE]
    assert not storage.of_type("AWS::FSx::FileSystem")
    association = storage.properties("AWS::FSx::DataRepositoryAssociation")
    assert association["FileSystemId"] == EXISTING_FILE_SYSTEM["file_system_id"]
    suffix = {"Ref": "AWS::URLSuffix"}
    assert storage.outputs["FileSystemDnsName"] == {"Fn::Join": ["", ["fs-00000000000000000.fsx.us-west-2.", suffix]]}
    assert storage.outputs["FileSystemMountName"] == EXISTING_FILE_SYSTEM["mount_name"]


def test_a_stack_without_storage_has_a_placeholder(variants: Synthesized) -> None:
    storage = variants["no-storage", STORAGE]
    assert [resource["Type"] for resource in storage.resources.values()] == ["AWS::CloudFormation::WaitConditionHandle"]
    assert not storage.outputs
