"""What `cdk destroy` leaves."""

import pytest

from tests.synth.synthesized import CLUSTER, NETWORK, STORAGE, Synthesized

# A retained file system's interfaces hold the subnet and the group, the group's rules keep its port open, and all are in the VPC.
HELD_BY_THE_FILE_SYSTEM = {
    "AWS::EC2::VPC",
    "AWS::EC2::VPCCidrBlock",
    "AWS::EC2::Subnet",
    "AWS::EC2::SecurityGroup",
    "AWS::EC2::SecurityGroupIngress",
    "AWS::EC2::SecurityGroupEgress",
}


def kept(synthesized: Synthesized, cluster: str, stack: str) -> dict[str, str]:
    """The types of those resources that a destroy or an update does not delete, by their logical ids."""
    return {
        logical_id: resource["Type"]
        for logical_id, resource in synthesized[cluster, stack].resources.items()
        if {resource.get("DeletionPolicy", "Delete"), resource.get("UpdateReplacePolicy", "Delete")} != {"Delete"}
    }


@pytest.mark.parametrize("cluster", ["reference", "fsdp-g5", "resilient-p5"])
def test_a_retained_file_system_retains_what_its_interfaces_hold(shipped: Synthesized, cluster: str) -> None:
    left = kept(shipped, cluster, NETWORK)
    assert set(left.values()) == HELD_BY_THE_FILE_SYSTEM
    assert len(left) == len(HELD_BY_THE_FILE_SYSTEM)
    assert [logical_id for logical_id, kind in left.items() if kind == "AWS::EC2::Subnet" and "NodeSubnet" in logical_id]


@pytest.mark.parametrize("cluster", ["reference", "fsdp-g5", "resilient-p5"])
def test_the_file_system_and_the_data_bucket_are_retained_and_nothing_else_of_the_storage(
    shipped: Synthesized, cluster: str
) -> None:
    assert sorted(kept(shipped, cluster, STORAGE).values()) == [
        "AWS::FSx::FileSystem",
        "AWS::S3::Bucket",
        "AWS::S3::BucketPolicy",
    ]


@pytest.mark.parametrize("policy", ["DeletionPolicy", "UpdateReplacePolicy"])
def test_what_is_retained_is_retained_in_a_replacement_too(shipped: Synthesized, policy: str) -> None:
    for stack in (NETWORK, STORAGE):
        for logical_id in kept(shipped, "reference", stack):
            resource = shipped["reference", stack].resources[logical_id]
            assert resource.get(policy) in ("Retain", "RetainExceptOnCreate"), logical_id


def test_the_cluster_stack_leaves_nothing(shipped: Synthesized) -> None:
    for cluster in shipped.clusters:
        assert kept(shipped, cluster, CLUSTER) == {}


def test_with_removal_destroy_nothing_at_all_is_left(variants: Synthesized) -> None:
    for stack in (NETWORK, STORAGE, CLUSTER):
        assert kept(variants, "destroyed", stack) == {}


def test_a_bucket_can_be_destroyed_while_its_file_system_is_kept(variants: Synthesized) -> None:
    assert list(kept(variants, "bucket-destroyed", STORAGE).values()) == ["AWS::FSx::FileSystem"]
    assert set(kept(variants, "bucket-destroyed", NETWORK).values()) == HELD_BY_THE_FILE_SYSTEM


def test_a_bucket_that_goes_is_emptied_first(variants: Synthesized) -> None:
    storage = variants["destroyed", STORAGE]
    bucket, _ = storage.one("AWS::S3::Bucket")
    assert storage.properties("Custom::S3AutoDeleteObjects")["BucketName"] == {"Ref": bucket}


def test_a_bucket_is_emptied_only_when_no_link_can_empty_a_file_system_that_stays(variants: Synthesized) -> None:
    """What is deleted from the bucket is deleted from the file system, as long as the two are linked."""
    storage = variants["bucket-destroyed", STORAGE]
    emptying, _ = storage.one("Custom::S3AutoDeleteObjects")
    association, _ = storage.one("AWS::FSx::DataRepositoryAssociation")
    assert emptying in storage.waits_for(association)


def test_a_network_without_a_file_system_of_ours_goes(variants: Synthesized) -> None:
    assert kept(variants, "no-storage", NETWORK) == {}


@pytest.mark.parametrize(("stack", "output"), [(NETWORK, "NetworkAfterDestroy"), (STORAGE, "StorageAfterDestroy")])
def test_an_output_says_what_stays_and_only_where_something_stays(
    shipped: Synthesized, variants: Synthesized, stack: str, output: str
) -> None:
    assert output in shipped["reference", stack].outputs
    assert output not in variants["destroyed", stack].outputs
    assert output not in variants["existing-storage", STORAGE].outputs
