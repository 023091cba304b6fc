from typing import Any

import pytest
from botocore.exceptions import ClientError

from local_aws import durations, faults
from local_aws.hyperpod import quotas, service_behaviour
from tests.simulator.hyperpod.world import Hold, World, until

pytestmark = pytest.mark.local


def counts(cluster: dict[str, Any]) -> dict[str, tuple[int, int]]:
    return {group["InstanceGroupName"]: (group["TargetCount"], group["CurrentCount"]) for group in cluster["InstanceGroups"]}


def updated(world: World, *groups: dict[str, Any], **more: Any) -> dict[str, Any]:
    world.sagemaker.update_cluster(ClusterName="ml", InstanceGroups=list(groups), **more)
    return world.until_status("InService", "Failed")


def test_groups_grow_shrink_come_and_go(world: World) -> None:
    world.in_service(world.group("controller"), world.group("workers", 2), world.group("login"))
    before = {node["InstanceId"] for node in world.nodes() if node["InstanceGroupName"] == "workers"}
    seen = updated(world, world.group("controller"), world.group("workers", 3), InstanceGroupsToDelete=["login"])
    assert counts(seen) == {"controller": (1, 1), "workers": (3, 3)}
    assert before < {node["InstanceId"] for node in world.nodes()}
    seen = updated(world, world.group("workers", 1), world.group("more", 2))
    assert counts(seen) == {"controller": (1, 1), "workers": (1, 1), "more": (2, 2)}
    assert len(world.nodes()) == len(world.interfaces()) == 4


def test_a_cluster_that_is_busy_refuses_updates_and_deletion(world: World, hold: Hold) -> None:
    hold("hyperpod.node.boot")
    world.create(world.group("a"))
    with pytest.raises(ClientError, match=r"ConflictException.*Creating"):
        world.sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[world.group("a", 2)])
    with pytest.raises(ClientError, match=r"ConflictException.*Creating"):
        world.sagemaker.update_cluster_software(ClusterName="ml")
    with pytest.raises(ClientError, match=r"ConflictException.*Creating"):
        world.sagemaker.delete_cluster(ClusterName="ml")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"InstanceType": "ml.m5.xlarge"}, "InstanceType of instance group a cannot be changed from ml.c5.xlarge"),
        ({"ThreadsPerCore": 2}, "ThreadsPerCore of instance group a cannot be changed from 1 to 2"),
    ],
)
def test_what_is_fixed_cannot_be_changed(world: World, change: dict[str, Any], complaint: str) -> None:
    world.in_service(world.group("a"))
    with pytest.raises(ClientError, match=complaint):
        world.sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[world.group("a", **change)])


def test_groups_that_are_not_there_or_are_the_last_cannot_be_deleted(world: World) -> None:
    world.in_service(world.group("a"))
    with pytest.raises(ClientError, match=r"\['b'\] of InstanceGroupsToDelete do not exist"):
        world.sagemaker.update_cluster(ClusterName="ml", InstanceGroupsToDelete=["b"])
    with pytest.raises(ClientError, match="must keep at least one instance group"):
        world.sagemaker.update_cluster(ClusterName="ml", InstanceGroupsToDelete=["a"])
    with pytest.raises(ClientError, match="are in InstanceGroups and in InstanceGroupsToDelete"):
        world.sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[world.group("a")], InstanceGroupsToDelete=["a"])


def test_an_update_that_fails_goes_back_to_the_old_counts_and_says_why(world: World) -> None:
    world.in_service(world.group("a", 2))
    faults.order(faults.Fault("sagemaker:UpdateCluster", kind="fail", message="no capacity for ml.c5.xlarge"))
    seen = updated(world, world.group("a", 4))
    assert (seen["ClusterStatus"], seen["FailureMessage"]) == ("InService", "no capacity for ml.c5.xlarge")
    assert counts(seen) == {"a": (2, 2)}
    seen = updated(world, world.group("a", 3))
    assert "FailureMessage" not in seen


def test_new_nodes_whose_scripts_are_missing_are_taken_back(world: World) -> None:
    world.in_service(world.group("a"))
    missing = {"SourceS3Uri": "s3://sagemaker-scripts/lifecycle/none/", "OnCreate": "on_create.sh"}
    seen = updated(world, world.group("a", 2, LifeCycleConfig=missing), world.group("b"))
    assert "there is no such object" in seen["FailureMessage"]
    assert counts(seen) == {"a": (1, 1)}
    assert len(world.nodes()) == len(world.interfaces()) == 1


def test_new_scripts_replace_no_node(world: World) -> None:
    world.in_service(world.group("a", 2))
    nodes = {node["InstanceId"] for node in world.nodes()}
    world.client("s3").put_object(Bucket="sagemaker-scripts", Key="lifecycle/2/on_create.sh", Body=b"")
    scripts = {"SourceS3Uri": "s3://sagemaker-scripts/lifecycle/2/", "OnCreate": "on_create.sh"}
    seen = updated(world, world.group("a", 2, LifeCycleConfig=scripts))
    assert seen["InstanceGroups"][0]["LifeCycleConfig"] == scripts
    assert {node["InstanceId"] for node in world.nodes()} == nodes


def test_a_quota_counts_what_is_there(world: World) -> None:
    quotas.limit({"ml.c5.xlarge for cluster usage": 3})
    world.in_service(world.group("a", 2))
    with pytest.raises(ClientError, match="is 3 Instances, with current utilization of 2 Instances and a request delta of 2"):
        world.sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[world.group("a", 4)])


def test_a_software_update_runs_through_the_groups_asked_for(world: World) -> None:
    world.in_service(world.group("a", 2), world.group("b"))
    world.sagemaker.update_cluster_software(ClusterName="ml", InstanceGroups=[{"InstanceGroupName": "a"}])
    seen = world.until_status("InService")
    assert [group.get("SoftwareUpdateStatus") for group in seen["InstanceGroups"]] == ["Succeeded", None]
    assert {n["InstanceGroupName"] for n in world.nodes() if "LastSoftwareUpdateTime" in n} == {"a"}


def test_nodes_and_cluster_say_so_while_the_software_is_updated(world: World, hold: Hold) -> None:
    world.in_service(world.group("a", 2), world.group("b"))
    hold("hyperpod.software")
    world.sagemaker.update_cluster_software(ClusterName="ml", InstanceGroups=[{"InstanceGroupName": "a"}])
    assert world.cluster()["ClusterStatus"] == "SystemUpdating"
    states = {node["InstanceGroupName"]: node["InstanceStatus"]["Status"] for node in world.nodes()}
    assert states == {"a": "SystemUpdating", "b": "Running"}


def test_a_software_update_that_fails_leaves_the_cluster_in_service_and_says_so(world: World) -> None:
    world.in_service(world.group("a"))
    faults.order(faults.Fault("sagemaker:UpdateClusterSoftware", kind="fail", message="the new image did not boot"))
    world.sagemaker.update_cluster_software(ClusterName="ml")
    seen = world.until_status("InService")
    assert seen["InstanceGroups"][0]["SoftwareUpdateStatus"] == "Failed"
    assert seen["FailureMessage"] == "the new image did not boot"


def test_a_software_update_whose_script_fails_is_taken_back(world: World) -> None:
    world.in_service(world.group("a"))
    s3 = world.client("s3")
    s3.delete_object(Bucket="sagemaker-scripts", Key="lifecycle/1/on_create.sh")
    world.sagemaker.update_cluster_software(ClusterName="ml")
    seen = world.until_status("InService")
    s3.put_object(Bucket="sagemaker-scripts", Key="lifecycle/1/on_create.sh", Body=b"#!/bin/bash\n")
    assert seen["InstanceGroups"][0]["SoftwareUpdateStatus"] == "Failed"
    assert world.nodes()[0]["InstanceStatus"]["Status"] == "Running"


def test_a_new_cluster_is_not_found_and_a_changed_one_looks_unchanged_for_a_while(world: World) -> None:
    durations.change({"hyperpod.describe.stale": 3000})  # a second of the tests' clock
    world.create(world.group("workers"))
    service_behaviour.choose({"describe_cluster": "stale"})
    world.until_status("InService")
    world.sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[world.group("workers", 2)])
    assert (world.cluster()["ClusterStatus"], world.cluster()["InstanceGroups"][0]["TargetCount"]) == ("InService", 1)
    until(lambda: world.cluster()["InstanceGroups"][0]["TargetCount"], lambda count: count == 2)

    request = {"ClusterName": "new", "VpcConfig": world.vpc(), "InstanceGroups": [world.group("workers")]}
    world.sagemaker.create_cluster(**request)
    with pytest.raises(ClientError, match="ResourceNotFound"):
        world.cluster("new")
    assert "new" in [each["ClusterName"] for each in world.sagemaker.list_clusters()["ClusterSummaries"]]
    with pytest.raises(ClientError, match="ResourceInUse"):
        world.sagemaker.create_cluster(**request)
