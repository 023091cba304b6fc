from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError

from local_aws import durations
from local_aws.clock import clock
from local_aws.hyperpod import capacity, service_behaviour
from tests.simulator.hyperpod.conftest import SPEED
from tests.simulator.hyperpod.world import Caller, Hold, World

pytestmark = pytest.mark.local
TAGS = [{"Key": "team", "Value": "ml"}]
HEAD: dict[str, Any] = {"SlurmConfig": {"NodeType": "Controller"}}
BOTH = "cannot include both a SLURM Orchestrator Config and a provisioning_parameters.json file simultaneously"
COMPUTE: dict[str, Any] = {"SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["dev"]}}


def ids(world: World, group: str) -> list[str]:
    return [node["InstanceId"] for node in world.nodes() if node["InstanceGroupName"] == group]


def test_deleted_nodes_leave_their_group_smaller(world: World) -> None:
    world.in_service(world.group("a", 3))
    first, *rest = ids(world, "a")
    answer = world.sagemaker.batch_delete_cluster_nodes(ClusterName="ml", NodeIds=[first, "i-0123456789abcdef0"])
    assert answer["Successful"] == [first]
    assert [(failed["NodeId"], failed["Code"]) for failed in answer["Failed"]] == [("i-0123456789abcdef0", "NodeIdNotFound")]
    seen = world.until_status("InService")
    assert seen["InstanceGroups"][0]["TargetCount"] == 2
    assert sorted(ids(world, "a")) == sorted(rest)
    assert len(world.interfaces()) == 2


@pytest.mark.parametrize("address", ["kept", "new"])
def test_a_replaced_node_comes_back_as_another_under_its_address(world: World, address: str) -> None:
    service_behaviour.choose({"replaced_address": address})
    world.in_service(world.group("a", 2))
    first, second = ids(world, "a")
    before = {each["PrivateIpAddress"] for each in world.interfaces()}
    assert world.sagemaker.batch_replace_cluster_nodes(ClusterName="ml", NodeIds=[first])["Successful"] == [first]
    world.until_status("InService")
    now = ids(world, "a")
    assert len(now) == 2
    assert second in now
    assert first not in now
    after = {each["PrivateIpAddress"] for each in world.interfaces()}
    assert (len(after), after == before) == (2, address == "kept")
    service_behaviour.reset()


def test_a_rebooted_node_comes_back_as_itself(world: World, hold: Hold) -> None:
    world.in_service(world.group("a"))
    before = ids(world, "a")
    world.sagemaker.batch_reboot_cluster_nodes(ClusterName="ml", NodeIds=before)
    world.until(lambda: world.nodes()[0]["InstanceStatus"]["Status"], lambda status: status == "Running")
    assert ids(world, "a") == before


def test_nodes_of_a_busy_cluster_are_refused_one_by_one(world: World, hold: Hold) -> None:
    world.in_service(world.group("a"))
    hold("hyperpod.update.launch")
    world.sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[world.group("a", 2)])
    answer = world.sagemaker.batch_replace_cluster_nodes(ClusterName="ml", NodeIds=ids(world, "a"))
    assert [failed["ErrorCode"] for failed in answer["Failed"]] == ["InstanceIdInUse"]


def test_nodes_are_filtered_by_group(world: World) -> None:
    world.in_service(world.group("workers-a"), world.group("head"))
    found = world.sagemaker.list_cluster_nodes(ClusterName="ml", InstanceGroupNameContains="workers")["ClusterNodeSummaries"]
    assert [node["InstanceGroupName"] for node in found] == ["workers-a"]


def test_nodes_are_listed_with_the_release_of_their_image(world: World) -> None:
    world.in_service(
        world.group("a", ImageReleaseVersion="1.2.3"), world.group("b"), world.group("c", ImageId="ami-0123456789abcdef0")
    )
    found = {node["InstanceGroupName"]: node for node in world.nodes()}
    assert (found["a"]["CurrentImageReleaseVersion"], found["a"]["ImageVersionStatus"]) == ("1.2.3", "UpToDate")
    assert found["b"]["CurrentImageReleaseVersion"] == "1.0.0"
    assert "CurrentImageReleaseVersion" not in found["c"]
    details = world.sagemaker.describe_cluster_node(ClusterName="ml", NodeId=found["a"]["InstanceId"])["NodeDetails"]
    assert details["CurrentImageReleaseVersion"] == "1.2.3"


def test_a_node_that_does_not_exist_is_not_found(world: World) -> None:
    world.create(world.group("a"))
    with pytest.raises(ClientError, match="ResourceNotFound"):
        world.sagemaker.describe_cluster_node(ClusterName="ml", NodeId="i-0123456789abcdef0")


def test_tags_of_a_cluster_are_listed_added_and_removed(world: World) -> None:
    arn = world.create(world.group("a"), Tags=TAGS)
    assert world.sagemaker.list_tags(ResourceArn=arn)["Tags"] == TAGS
    world.sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "team", "Value": "new"}, {"Key": "b", "Value": ""}])
    world.sagemaker.delete_tags(ResourceArn=arn, TagKeys=["b", "never-there"])
    assert world.sagemaker.list_tags(ResourceArn=arn)["Tags"] == [{"Key": "team", "Value": "new"}]


def test_awss_own_tag_keys_and_more_than_fifty_tags_are_refused(world: World) -> None:
    arn = world.create(world.group("a"), Tags=[{"Key": f"k{number}", "Value": ""} for number in range(50)])
    with pytest.raises(ClientError, match="must not start with 'aws:'"):
        world.sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "aws:x", "Value": ""}])
    with pytest.raises(ClientError, match="50 tags"):
        world.sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "one-more", "Value": ""}])


def test_tags_of_other_resources_are_left_to_moto(world: World) -> None:
    model = {"ModelName": "m", "ExecutionRoleArn": world.role, "PrimaryContainer": {"Image": "i"}, "Tags": TAGS}
    arn = world.sagemaker.create_model(**model)["ModelArn"]
    assert world.sagemaker.list_tags(ResourceArn=arn)["Tags"] == TAGS


def test_only_continuous_provisioning_has_events(world: World) -> None:
    world.create(world.group("a"))
    with pytest.raises(ClientError, match=r"ValidationException.*needs NodeProvisioningMode Continuous"):
        world.sagemaker.list_cluster_events(ClusterName="ml")


def test_a_continuous_cluster_is_in_service_once_its_controller_runs_and_updates_without_saying_so(world: World) -> None:
    world.create(world.group("head", **HEAD), world.group("work", 2, **COMPUTE), NodeProvisioningMode="Continuous")
    world.until_status("InService")

    def states() -> list[str]:
        return sorted(node["InstanceStatus"]["Status"] for node in world.nodes())

    world.until(states, lambda seen: seen == ["Running"] * 3)
    world.sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[world.group("work", 4, **COMPUTE)])
    assert world.cluster()["ClusterStatus"] == "InService"
    world.until(states, lambda seen: seen == ["Running"] * 5)


def test_a_worker_that_fails_in_a_continuous_cluster_is_tried_again_and_leaves_an_event(world: World) -> None:
    s3, key = world.client("s3"), "late/on_create.sh"
    scripts: dict[str, Any] = {"LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-scripts/late/", "OnCreate": "on_create.sh"}}
    world.create(world.group("head", **HEAD), world.group("work", **COMPUTE, **scripts), NodeProvisioningMode="Continuous")

    def errors() -> list[dict[str, Any]]:
        events = world.sagemaker.list_cluster_events(ClusterName="ml", InstanceGroupName="work")["Events"]
        return [event for event in events if event["EventLevel"] == "Error"]

    event = world.until(errors, bool)[0]
    details = world.sagemaker.describe_cluster_event(ClusterName="ml", EventId=event["EventId"])["EventDetails"]
    failure = details["EventDetails"]["EventMetadata"]["Instance"]["FailureMessage"]
    assert "there is no such object" in failure
    assert world.cluster()["ClusterStatus"] == "InService"
    s3.put_object(Bucket="sagemaker-scripts", Key=key, Body=b"")
    world.until(lambda: {node["InstanceStatus"]["Status"] for node in world.nodes()}, lambda seen: seen == {"Running"})


def test_nodes_without_capacity_are_not_listed_and_join_when_there_is_some(world: World) -> None:
    capacity.limit({"ml.trn1.32xlarge": 2})
    work = world.group("work", 3, InstanceType="ml.trn1.32xlarge", MinInstanceCount=1, **COMPUTE)
    world.create(world.group("head", **HEAD), work, NodeProvisioningMode="Continuous")
    world.until_status("InService")

    def running() -> list[str]:
        return [node["InstanceStatus"]["Status"] for node in world.nodes() if node["InstanceGroupName"] == "work"]

    def refused() -> list[dict[str, Any]]:
        events = world.sagemaker.list_cluster_events(ClusterName="ml", InstanceGroupName="work")["Events"]
        return [event for event in events if event["Description"] == "Instances were not launched"]

    world.until(running, lambda seen: seen == ["Running"] * 2)
    world.until(refused, lambda seen: len(seen) > 2)
    assert running() == ["Running"] * 2
    capacity.limit({"ml.trn1.32xlarge": 3})
    world.until(running, lambda seen: seen == ["Running"] * 3)
    world.sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[{**work, "InstanceCount": 1}])
    world.until(running, lambda seen: seen == ["Running"])


def test_a_controller_that_fails_fails_a_continuous_cluster(world: World) -> None:
    scripts: dict[str, Any] = {"LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-scripts/none/", "OnCreate": "on_create.sh"}}
    seen = world.in_service(world.group("head", **HEAD, **scripts), NodeProvisioningMode="Continuous")
    assert seen["ClusterStatus"] == "Failed"
    assert "there is no such object" in seen["FailureMessage"]


def test_a_minimum_that_is_not_met_in_time_leaves_a_new_group_at_none_and_the_cluster_in_service(world: World) -> None:
    durations.change({"hyperpod.min_count": 900})
    scripts: dict[str, Any] = {"LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-scripts/none/", "OnCreate": "on_create.sh"}}
    work = world.group("work", 2, MinInstanceCount=2, **COMPUTE, **scripts)
    world.create(world.group("head", **HEAD), work, NodeProvisioningMode="Continuous")

    def target() -> dict[str, int]:
        return {group["InstanceGroupName"]: group["TargetCount"] for group in world.cluster()["InstanceGroups"]}

    world.until(target, lambda seen: seen == {"head": 1, "work": 0})
    world.until(lambda: ids(world, "work"), lambda left: left == [])
    assert world.cluster()["ClusterStatus"] == "InService"


def test_slurm_config_and_a_parameters_file_beside_the_scripts_do_not_go_together(world: World) -> None:
    s3 = world.client("s3")
    for name in ("on_create.sh", "provisioning_parameters.json"):
        s3.put_object(Bucket="sagemaker-scripts", Key=f"both/{name}", Body=b"{}")
    scripts: dict[str, Any] = {"LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-scripts/both", "OnCreate": "on_create.sh"}}
    seen = world.in_service(world.group("head", **HEAD, **scripts))
    assert BOTH in seen["FailureMessage"]


def test_a_parameters_file_of_one_group_refuses_the_slurm_config_of_another(world: World) -> None:
    s3 = world.client("s3")
    for name in ("on_create.sh", "provisioning_parameters.json"):
        s3.put_object(Bucket="sagemaker-scripts", Key=f"both/{name}", Body=b"{}")
    scripts: dict[str, Any] = {"LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-scripts/both", "OnCreate": "on_create.sh"}}
    head = {name: value for name, value in world.group("head", **HEAD).items() if name != "LifeCycleConfig"}
    assert BOTH in world.in_service(head, world.group("work", **scripts))["FailureMessage"]


def test_added_nodes_raise_the_target_of_their_group_and_groups_that_cannot_grow_are_named(world: World) -> None:
    world.create(world.group("head", **HEAD), world.group("work", 2, **COMPUTE), NodeProvisioningMode="Continuous")
    world.until(lambda: len(ids(world, "work")), lambda count: count == 2)
    world.until_status("InService")
    wanted = [{"InstanceGroupName": name, "IncrementTargetCountBy": 2} for name in ("work", "other")]
    answer = world.sagemaker.batch_add_cluster_nodes(ClusterName="ml", NodesToAdd=wanted)
    assert [(one["NodeLogicalId"], one["Status"]) for one in answer["Successful"]] == [
        ("work-3", "Pending"),
        ("work-4", "Pending"),
    ]
    assert [(one["InstanceGroupName"], one["ErrorCode"], one["FailedCount"]) for one in answer["Failed"]] == [
        ("other", "InstanceGroupNotFound", 2)
    ]
    world.until(lambda: len(ids(world, "work")), lambda count: count == 4)
    assert {group["InstanceGroupName"]: group["TargetCount"] for group in world.cluster()["InstanceGroups"]}["work"] == 4


def test_nodes_are_added_only_to_clusters_with_continuous_provisioning(world: World) -> None:
    world.in_service(world.group("a"))
    with pytest.raises(ClientError, match=r"ValidationException.*needs NodeProvisioningMode Continuous"):
        world.sagemaker.batch_add_cluster_nodes(
            ClusterName="ml", NodesToAdd=[{"InstanceGroupName": "a", "IncrementTargetCountBy": 1}]
        )


NO_SCRIPTS: dict[str, Any] = {"LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-scripts/none/", "OnCreate": "on_create.sh"}}


def with_a_node_that_failed(world: World) -> tuple[dict[str, Any], str]:
    """Scale a continuous cluster from two workers to three, whose third fails; the group with two, and the failed node."""
    work = world.group("work", 2, **COMPUTE)
    world.create(world.group("head", **HEAD), work, NodeProvisioningMode="Continuous")
    world.until(lambda: [node["InstanceStatus"]["Status"] for node in world.nodes()], lambda seen: seen == ["Running"] * 3)
    world.sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[{**work, "InstanceCount": 3, **NO_SCRIPTS}])

    def failed() -> list[str]:
        return [node["InstanceId"] for node in world.nodes() if node["InstanceStatus"]["Message"]]

    return work, world.until(failed, bool)[0]


def test_of_a_smaller_group_the_node_that_failed_goes_first_and_is_not_tried_again(world: World) -> None:
    work, failed = with_a_node_that_failed(world)
    running = [each for each in ids(world, "work") if each != failed]
    world.sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[work])
    world.until(lambda: sorted(ids(world, "work")), lambda left: left == sorted(running))
    world.until(lambda: {group["Status"] for group in world.cluster()["InstanceGroups"]}, lambda seen: seen == {"InService"})


@pytest.fixture
def slower_clock() -> Iterator[None]:
    """Let five of AWS's minutes take half a second, as much as a busy machine may need."""
    clock.set_speed(600)
    yield
    clock.set_speed(SPEED)


@pytest.mark.usefixtures("slower_clock")
def test_a_node_that_failed_is_replaced_after_25_minutes_with_the_scripts_of_its_group(world: World, caller: Caller) -> None:
    work, failed = with_a_node_that_failed(world)
    function = caller({"Action": ["sagemaker:DescribeClusterNode", "sagemaker:ListClusterNodes"], "Resource": "*"})
    launched = function.describe_cluster_node(ClusterName="ml", NodeId=failed)["NodeDetails"]["LaunchTime"]
    world.sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[{**work, "InstanceCount": 3}])

    def running() -> list[Any]:
        nodes = function.list_cluster_nodes(ClusterName="ml")["ClusterNodeSummaries"]
        return [node["LaunchTime"] for node in nodes if node["InstanceStatus"]["Status"] == "Running"]

    again = max(world.until(running, lambda seen: len(seen) == 4))
    assert 15 * 60 < (again - launched).total_seconds() < 30 * 60


def test_people_see_times_of_this_machine_and_functions_those_of_their_requests(world: World, caller: Caller) -> None:
    clock.skip(3 * 86400)
    name = world.create(world.group("a", SlurmConfig={"NodeType": "Controller"}), NodeProvisioningMode="Continuous")
    reading = {"Action": ["sagemaker:ListClusterEvents", "sagemaker:DescribeCluster"], "Resource": "*"}
    for client, now in ((world.sagemaker, datetime.now(UTC)), (caller(reading), clock.now())):
        events = client.list_cluster_events(ClusterName=name, EventTimeAfter=now - timedelta(hours=12))["Events"]
        times = [client.describe_cluster(ClusterName=name)["CreationTime"], *(each["EventTime"] for each in events)]
        assert len(times) > 1
        assert all(abs(each - now) < timedelta(hours=12) for each in times)


def test_a_parameter_has_the_time_of_the_requests_that_write_it(world: World) -> None:
    clock.skip(3 * 86400)
    ssm = world.client("ssm")
    ssm.put_parameter(Name="/hyperpod-cdk/ml/bundle", Value="{}", Type="String")
    written = ssm.get_parameter(Name="/hyperpod-cdk/ml/bundle")["Parameter"]["LastModifiedDate"]
    assert abs(written - clock.now()) < timedelta(hours=12)  # else a node takes the pointer's generation for one of the future
