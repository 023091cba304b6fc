"""Operations of a cluster with continuous provisioning, and records of the health-monitoring agent."""

import json
from datetime import datetime

import pytest

from local_aws.clock import clock
from local_aws.hyperpod import health_records
from tests.simulator.hyperpod.test_nodes_tags_events import COMPUTE, HEAD
from tests.simulator.hyperpod.world import Hold, World

pytestmark = pytest.mark.local


def in_service(world: World) -> None:
    """A cluster with continuous provisioning, of a controller and a worker."""
    world.in_service(world.group("head", **HEAD), world.group("a", **COMPUTE), NodeProvisioningMode="Continuous")
    world.until(lambda: [node["InstanceStatus"]["Status"] for node in world.nodes()], lambda seen: seen == ["Running"] * 2)


def status_of_operations(world: World) -> list[str]:
    found = world.sagemaker.list_cluster_operations(ClusterName="ml", Type="Scaling", SortOrder="Ascending")
    return [each["Status"] for each in found["ClusterOperationSummaries"]]


def test_scaling_is_an_operation_that_the_next_one_supersedes(world: World, hold: Hold) -> None:
    in_service(world)
    assert status_of_operations(world) == []
    hold("hyperpod.update.launch")
    world.sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[world.group("a", 2, **COMPUTE)])
    world.sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[world.group("a", 3, **COMPUTE)])
    assert status_of_operations(world) == ["Superseded", "InProgress"]
    last = world.sagemaker.list_cluster_operations(ClusterName="ml")["ClusterOperationSummaries"][0]["OperationId"]
    found = world.sagemaker.describe_cluster_operation(ClusterName="ml", OperationId=last)
    [group] = found["ScalingDetails"]
    assert (group["InstanceGroupName"], group["Original"]["TargetCount"], group["Desired"]["TargetCount"]) == ("a", 2, 3)


def test_an_operation_is_done_when_its_nodes_run(world: World) -> None:
    in_service(world)
    world.sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[world.group("a", 2, **COMPUTE)])
    world.until(lambda: status_of_operations(world), lambda found: found == ["Done"])
    assert len(world.nodes()) == 3


def test_a_cluster_without_continuous_provisioning_keeps_no_scaling_operations(world: World) -> None:
    world.in_service(world.group("a"))
    world.sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[world.group("a", 2)])
    assert status_of_operations(world) == []


def test_a_record_of_the_health_agent_is_in_the_nodes_stream_if_its_role_may_write(world: World) -> None:
    cluster = world.in_service(world.group("a"))
    node = world.nodes()[0]["InstanceId"]
    group = f"/aws/sagemaker/Clusters/ml/{cluster['ClusterArn'].rpartition('/')[2]}"
    world.allow_all_but("logs:PutLogEvents")
    health_records.write(node, xid=48)
    world.allow_all_but()
    clock.skip(3 * 86400)
    health_records.write(node, xid=79)
    lines = world.client("logs").get_log_events(
        logGroupName=group, logStreamName=f"SagemakerHealthMonitoringAgent/a/{node}", startFromHead=True
    )["events"]
    [record] = [json.loads(line["message"]) for line in lines]
    assert record["HealthMonitoringAgentDetectionEvent"] == "HealthEvent"
    assert (record["condition: "], record["data: "]) == ("XID Error", {"ErrNum": 79})
    assert abs(datetime.fromisoformat(record["ts"]).timestamp() - lines[0]["timestamp"] / 1000) < 12 * 3600
    with pytest.raises(ValueError, match="unknown node"):
        health_records.write("i-0")
