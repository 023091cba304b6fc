"""The Storage stack."""

import pytest
from aws_cdk.assertions import Match

from tests.synth.synthesized import NETWORK, STORAGE, StackTemplate, Synthesized
from tests.synth.variants import EXISTING_FILE_SYSTEM


@pytest.fixture
def storage(shipped: Synthesized) -> StackTemplate:
    return shipped["reference", STORAGE]


def test_the_file_system_has_the_fields_of_the_file(storage: StackTemplate) -> None:
    storage.assertions.has_resource_properties(
        "AWS::FSx::FileSystem",
        {
            "FileSystemType": "LUSTRE",
            "FileSystemTypeVersion": "2.15",
            "StorageCapacity": 1200,
            "LustreConfiguration": {
                "DeploymentType": "PERSISTENT_2",
                "PerUnitStorageThroughput": 250,
                "DataCompressionType": "LZ4",
                "AutomaticBackupRetentionDays": 0,
            },
        },
    )


def test_persistent_1_is_supported(variants: Synthesized) -> None:
    variants["persistent-1", STORAGE].assertions.has_resource_properties(
        "AWS::FSx::FileSystem",
        {"LustreConfiguration": Match.object_like({"DeploymentType": "PERSISTENT_1", "PerUnitStorageThroughput": 100})},
    )


def test_the_file_system_is_in_the_subnet_and_security_group_of_the_nodes(storage: StackTemplate, shipped: Synthesized) -> None:
    properties = storage.properties("AWS::FSx::FileSystem")
    outputs = shipped["reference", NETWORK].outputs
    [subnet], [group] = properties["SubnetIds"], properties["SecurityGroupIds"]
    node_subnet, _ = shipped["reference", NETWORK].one("AWS::EC2::Subnet", named="NodeSubnet")
    security_group, _ = shipped["reference", NETWORK].one("AWS::EC2::SecurityGroup")
    assert outputs[subnet["Fn::GetStackOutput"]["OutputName"]] == {"Ref": node_subnet}
    assert outputs[group["Fn::GetStackOutput"]["OutputName"]] == {"Fn::GetAtt": [security_group, "GroupId"]}


def test_the_association_has_the_fields_of_the_file(storage: StackTemplate) -> None:
    file_system, _ = storage.one("AWS::FSx::FileSystem")
    bucket, _ = storage.one("AWS::S3::Bucket")
    events = ["NEW", "CHANGED", "DELETED"]
    storage.assertions.has_resource_properties(
        "AWS::FSx::DataRepositoryAssociation",
        {
            "FileSystemId": {"Ref": file_system},
            "FileSystemPath": "/data",
            "DataRepositoryPath": {"Fn::Join": ["", ["s3://", {"Ref": bucket}, "/"]]},
            "BatchImportMetaDataOnCreate": True,
            "ImportedFileChunkSize": 1024,
            "S3": {"AutoImportPolicy": {"Events": events}, "AutoExportPolicy": {"Events": events}},
        },
    )


def test_an_association_that_exports_nothing_has_no_export_policy(shipped: Synthesized) -> None:
    association = shipped["resilient-p5", STORAGE].properties("AWS::FSx::DataRepositoryAssociation")
    assert association["S3"].keys() == {"AutoImportPolicy"}


def test_the_data_bucket_is_private_encrypted_and_versioned(storage: StackTemplate) -> None:
    encryption = {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
    blocked = {"BlockPublicAcls": True, "BlockPublicPolicy": True, "IgnorePublicAcls": True, "RestrictPublicBuckets": True}
    storage.assertions.has_resource_properties(
        "AWS::S3::Bucket",
        {
            "PublicAccessBlockConfiguration": blocked,
            "BucketEncryption": {"ServerSideEncryptionConfiguration": [encryption]},
            "VersioningConfiguration": {"Status": "Enabled"},
        },
    )


def test_the_data_bucket_requires_tls(storage: StackTemplate) -> None:
    refusal = {"Effect": "Deny", "Action": "s3:*", "Condition": {"Bool": {"aws:SecureTransport": "false"}}}
    storage.assertions.has_resource_properties(
        "AWS::S3::BucketPolicy", {"PolicyDocument": {"Statement": Match.array_with([Match.object_like(refusal)])}}
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
