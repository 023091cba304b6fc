"""Resources that `cdk destroy` retains."""

import pytest

from tests.synth.synthesized import CLUSTER, NETWORK, STORAGE, Synthesized

# The subnet and the security group with its rules, which the interfaces of a retained file system use, and their VPC.
USED_BY_THE_FILE_SYSTEM = {
    "AWS::EC2::VPC",
    "AWS::EC2::VPCCidrBlock",
    "AWS::EC2::Subnet",
    "AWS::EC2::SecurityGroup",
    "AWS::EC2::SecurityGroupIngress",
    "AWS::EC2::SecurityGroupEgress",
}


def kept(synthesized: Synthesized, cluster: str, stack: str) -> dict[str, str]:
    """Return the types of retained resources by logical ID."""
    return {
        logical_id: resource["Type"]
        for logical_id, resource in synthesized[cluster, stack].resources.items()
        if {resource.get("DeletionPolicy", "Delete"), resource.get("UpdateReplacePolicy", "Delete")} != {"Delete"}
    }


@pytest.mark.parametrize("cluster", ["reference", "fsdp-g5", "resilient-p5"])
def test_a_retained_file_system_retains_the_network_of_its_interfaces(shipped: Synthesized, cluster: str) -> None:
    left = kept(shipped, cluster, NETWORK)
    assert set(left.values()) == USED_BY_THE_FILE_SYSTEM
    assert len(left) == len(USED_BY_THE_FILE_SYSTEM)
    assert [logical_id for logical_id, kind in left.items() if kind == "AWS::EC2::Subnet" and "NodeSubnet" in logical_id]


@pytest.mark.parametrize("cluster", ["reference", "fsdp-g5", "resilient-p5"])
def test_the_storage_stack_retains_only_the_file_system_and_the_data_bucket(shipped: Synthesized, cluster: str) -> None:
    assert sorted(kept(shipped, cluster, STORAGE).values()) == [
        "AWS::FSx::FileSystem",
        "AWS::S3::Bucket",
        "AWS::S3::BucketPolicy",
    ]


@pytest.mark.parametrize("policy", ["DeletionPolicy", "UpdateReplacePolicy"])
def test_retained_resources_are_retained_on_replacement(shipped: Synthesized, policy: str) -> None:
    for stack in (NETWORK, STORAGE):
        for logical_id in kept(shipped, "reference", stack):
            resource = shipped["reference", stack].resources[logical_id]
            assert resource.get(policy) in ("Retain", "RetainExceptOnCreate"), logical_id


def test_the_cluster_stack_retains_nothing(shipped: Synthesized) -> None:
    for cluster in shipped.clusters:
        assert kept(shipped, cluster, CLUSTER) == {}


def test_removal_destroy_retains_nothing(variants: Synthesized) -> None:
    for stack in (NETWORK, STORAGE, CLUSTER):
        assert kept(variants, "destroyed", stack) == {}


def test_a_bucket_can_be_deleted_while_its_file_system_is_retained(variants: Synthesized) -> None:
    assert list(kept(variants, "bucket-destroyed", STORAGE).values()) == ["AWS::FSx::FileSystem"]
    assert set(kept(variants, "bucket-destroyed", NETWORK).values()) == USED_BY_THE_FILE_SYSTEM


def test_a_bucket_is_emptied_before_it_is_deleted(variants: Synthesized) -> None:
    storage = variants["destroyed", STORAGE]
    bucket, _ = storage.one("AWS::S3::Bucket")
    assert storage.properties("Custom::S3AutoDeleteObjects")["BucketName"] == {"Ref": bucket}


def test_associations_are_deleted_before_the_bucket_is_emptied(variants: Synthesized) -> None:
    """While they are linked, objects deleted from the bucket are deleted from the file system, too."""
    storage = variants["bucket-destroyed", STORAGE]
    emptying, _ = storage.one("Custom::S3AutoDeleteObjects")
    association, _ = storage.one("AWS::FSx::DataRepositoryAssociation")
    assert emptying in storage.waits_for(association)


def test_a_network_without_a_new_file_system_is_deleted(variants: Synthesized) -> None:
    assert kept(variants, "no-storage", NETWORK) == {}


@pytest.mark.parametrize(("stack", "output"), [(NETWORK, "NetworkAfterDestroy"), (STORAGE, "StorageAfterDestroy")])
def test_an_output_for_reuse_exists_only_if_something_is_retained(
    shipped: Synthesized, variants: Synthesized, stack: str, output: str
) -> None:
    assert output in shipped["reference", stack].outputs
    assert output not in variants["destroyed", stack].outputs
    assert output not in variants["existing-storage", STORAGE].outputs
