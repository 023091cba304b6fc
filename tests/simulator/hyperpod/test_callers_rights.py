"""The rights of whoever calls: a role that a service took on is held to its policies, with tags as conditions."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.simulator.hyperpod.world import Caller, World

pytestmark = pytest.mark.local
OURS = [{"Key": "owner", "Value": "us"}]
CLUSTERS = "arn:aws:sagemaker:us-west-2:123456789012:cluster/*"


def passing(role: str, service: str = "sagemaker.amazonaws.com") -> dict[str, Any]:
    return {"Action": "iam:PassRole", "Resource": role, "Condition": {"StringEquals": {"iam:PassedToService": service}}}


def creating(**tags: str) -> dict[str, Any]:
    condition = {"StringEquals": {f"aws:RequestTag/{key}": value for key, value in tags.items()}}
    return {"Action": ["sagemaker:CreateCluster", "sagemaker:AddTags"], "Resource": CLUSTERS, "Condition": condition}


AS_A_DEPENDENT = {"Action": "sagemaker:UpdateClusterSoftware", "Resource": CLUSTERS}


def test_creation_with_the_tags_that_the_policy_asks_for_is_allowed(world: World, caller: Caller) -> None:
    client = caller(passing(world.role), creating(owner="us"), AS_A_DEPENDENT)
    request = {"ClusterName": "ml", "InstanceGroups": [world.group("a")]}
    assert client.create_cluster(**request, Tags=OURS)["ClusterArn"]
    with pytest.raises(ClientError, match=r"AccessDeniedException.*sagemaker:CreateCluster"):
        client.create_cluster(**request)


@pytest.mark.parametrize("service", ["ec2.amazonaws.com", None])
def test_creation_needs_the_right_to_pass_the_role_to_sagemaker(world: World, caller: Caller, service: str | None) -> None:
    statements = [creating(owner="us"), AS_A_DEPENDENT, *([passing(world.role, service)] if service else [])]
    with pytest.raises(
        ClientError, match=r"AccessDeniedException.*iam:PassRole on resource: arn:aws:iam::123456789012:role/nodes"
    ):
        caller(*statements).create_cluster(ClusterName="ml", InstanceGroups=[world.group("a")], Tags=OURS)


def test_creation_needs_what_the_service_authorization_reference_names_beside_it(world: World, caller: Caller) -> None:
    with pytest.raises(ClientError, match=r"AccessDeniedException.*sagemaker:UpdateClusterSoftware"):
        caller(passing(world.role), creating(owner="us")).create_cluster(
            ClusterName="ml", InstanceGroups=[world.group("a")], Tags=OURS
        )


@pytest.mark.parametrize("missing", ["BatchAddClusterNodes", "BatchDeleteClusterNodes"])
def test_an_update_needs_what_the_service_authorization_reference_names_beside_it(
    world: World, caller: Caller, missing: str
) -> None:
    world.in_service(world.group("a"), Tags=OURS)
    ours = {"StringEquals": {"aws:ResourceTag/owner": "us"}}
    needed = [f"sagemaker:{name}" for name in ("UpdateCluster", "BatchAddClusterNodes", "BatchDeleteClusterNodes")]
    enough = {"Action": needed, "Resource": CLUSTERS, "Condition": ours}
    client = caller(passing(world.role), {**enough, "Action": [name for name in needed if not name.endswith(missing)]})
    with pytest.raises(ClientError, match=f"AccessDeniedException.*sagemaker:{missing}"):
        client.update_cluster(ClusterName="ml", InstanceGroups=[world.group("a", 2)])
    client = caller(passing(world.role), enough)
    assert client.update_cluster(ClusterName="ml", InstanceGroups=[world.group("a", 2)])["ClusterArn"]


def test_a_condition_on_the_clusters_tags_separates_ours_from_others(world: World, caller: Caller) -> None:
    world.in_service(world.group("a"), name="ours", Tags=OURS)
    world.in_service(world.group("a"), name="theirs", Tags=[{"Key": "owner", "Value": "them"}])
    ours = {"StringEquals": {"aws:ResourceTag/owner": "us"}}
    client = caller({"Action": "sagemaker:DeleteCluster", "Resource": CLUSTERS, "Condition": ours})
    with pytest.raises(ClientError, match=r"AccessDeniedException.*sagemaker:DeleteCluster"):
        client.delete_cluster(ClusterName="theirs")
    client.delete_cluster(ClusterName="ours")
    world.until_gone("ours")
    assert world.cluster("theirs")["ClusterStatus"] == "InService"


def test_a_reader_of_all_clusters_learns_that_one_does_not_exist(world: World, caller: Caller) -> None:
    client = caller({"Action": ["sagemaker:DescribeCluster", "sagemaker:ListTags"], "Resource": CLUSTERS})
    with pytest.raises(ClientError, match="ResourceNotFound"):
        client.describe_cluster(ClusterName="none")


def test_without_the_right_nothing_is_returned(world: World, caller: Caller) -> None:
    world.create(world.group("a"))
    client = caller({"Action": "sagemaker:ListClusters", "Resource": "*"})
    assert len(client.list_clusters()["ClusterSummaries"]) == 1
    with pytest.raises(ClientError, match=r"AccessDeniedException.*sagemaker:DescribeCluster"):
        client.describe_cluster(ClusterName="ml")


def test_tags_are_removed_with_the_right_to_only_those_keys(world: World, caller: Caller) -> None:
    arn = world.create(world.group("a"), Tags=[*OURS, {"Key": "free", "Value": ""}])
    only = {"ForAllValues:StringEquals": {"aws:TagKeys": ["free"]}}
    client = caller({"Action": "sagemaker:DeleteTags", "Resource": CLUSTERS, "Condition": only})
    client.delete_tags(ResourceArn=arn, TagKeys=["free"])
    with pytest.raises(ClientError, match="AccessDeniedException"):
        client.delete_tags(ResourceArn=arn, TagKeys=["owner"])
