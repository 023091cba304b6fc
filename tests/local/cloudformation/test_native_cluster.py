"""AWS::SageMaker::Cluster: made, changed, replaced, refused beside the custom resource, and deleted."""

from collections.abc import Iterator
from typing import Any

import pytest

from local_aws import cloudformation, durations, faults, hyperpod
from tests.local.cloudformation.conftest import World
from tests.local.hyperpod import world as hyperpod_world

pytestmark = pytest.mark.local

Json = dict[str, Any]


@pytest.fixture(scope="module")
def parts(account: World) -> hyperpod_world.World:
    """What every cluster needs."""
    parts = hyperpod_world.World(account.endpoint)
    parts.make()
    parts.allow_all_but()
    return parts


@pytest.fixture
def world(account: World, parts: hyperpod_world.World) -> Iterator[World]:
    """The account without stacks and clusters; what clusters need stays."""
    yield account
    cloudformation.reset()
    hyperpod.reset()
    faults.reset()
    durations.reset()


def cluster(parts: hyperpod_world.World, *groups: Json, **more: Any) -> Json:
    properties = {"ClusterName": "ml", "VpcConfig": parts.vpc(), "InstanceGroups": list(groups), **more}
    return {"Cluster": {"Type": "AWS::SageMaker::Cluster", "Properties": properties}}


OUTPUTS = {"Outputs": {name: {"Value": {"Fn::GetAtt": ["Cluster", name]}} for name in ("ClusterArn", "ClusterStatus")}}


def test_it_comes_up_and_goes_with_its_stack(world: World, parts: hyperpod_world.World) -> None:
    tags = [{"Key": "team", "Value": "vision"}]
    resources = cluster(parts, parts.group("head"), Tags=tags)
    assert world.deploy(resources, template=OUTPUTS) == "CREATE_COMPLETE"
    arn = parts.cluster()["ClusterArn"]
    assert world.outputs() == {"ClusterArn": arn, "ClusterStatus": "InService"}
    assert world.physical_id("Cluster") == arn
    assert parts.sagemaker.list_tags(ResourceArn=arn)["Tags"] == tags
    assert world.delete() == "DELETE_COMPLETE"
    assert parts.sagemaker.list_clusters()["ClusterSummaries"] == []


def test_an_update_changes_counts_groups_and_tags_of_the_cluster_that_is_there(world: World, parts: hyperpod_world.World) -> None:
    head = parts.group("head")
    world.deploy(cluster(parts, head, parts.group("work", 1), parts.group("old", 1), Tags=[{"Key": "a", "Value": "1"}]))
    arn = parts.cluster()["ClusterArn"]
    changed = cluster(parts, head, parts.group("work", 3), parts.group("new", 1), Tags=[{"Key": "b", "Value": "2"}])
    assert world.deploy(changed) == "UPDATE_COMPLETE"
    found = parts.cluster()
    assert found["ClusterArn"] == arn
    assert {group["InstanceGroupName"]: group["CurrentCount"] for group in found["InstanceGroups"]} == {
        "head": 1,
        "work": 3,
        "new": 1,
    }
    assert parts.sagemaker.list_tags(ResourceArn=arn)["Tags"] == [{"Key": "b", "Value": "2"}]


def test_a_cluster_that_fails_takes_its_reason_to_the_stack_and_is_deleted(world: World, parts: hyperpod_world.World) -> None:
    scripts = {"SourceS3Uri": "s3://sagemaker-scripts/nowhere/", "OnCreate": "on_create.sh"}
    status = world.deploy(cluster(parts, parts.group("head", LifeCycleConfig=scripts)))
    assert status == "ROLLBACK_COMPLETE"
    assert world.reason("Cluster", "CREATE_FAILED")
    assert parts.sagemaker.list_clusters()["ClusterSummaries"] == []


def test_a_resource_of_the_other_kind_in_its_place_is_refused_before_anything_is_touched(
    world: World, parts: hyperpod_world.World
) -> None:
    world.deploy(cluster(parts, parts.group("head")))
    before = parts.cluster() | {"ResponseMetadata": None}
    token = "arn:aws:lambda:us-west-2:123456789012:function:entry"
    other = {"Cluster": {"Type": "Custom::HyperPodCluster", "Properties": {"ServiceToken": token}}}
    with pytest.raises(world.cloudformation.exceptions.ClientError, match="Update of resource type is not permitted"):
        world.deploy(other)
    assert parts.cluster() | {"ResponseMetadata": None} == before


def test_a_group_of_the_embedded_aws_that_it_does_not_have_is_refused(world: World, parts: hyperpod_world.World) -> None:
    with pytest.raises(world.cloudformation.exceptions.ClientError, match="not part of the embedded AWS"):
        world.deploy(cluster(parts, parts.group("head"), RestrictedInstanceGroups=[]))
