"""Deep health checks on demand, and the limits of operations on nodes."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from local_aws import faults
from tests.simulator.hyperpod.world import Hold, World

pytestmark = pytest.mark.local
GPU: dict[str, Any] = {"InstanceType": "ml.g5.8xlarge"}
HEAD: dict[str, Any] = {"SlurmConfig": {"NodeType": "Controller"}}
COMPUTE: dict[str, Any] = {"SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["dev"]}}


def start(world: World, group: str = "workers", **more: Any) -> None:
    checks = [{"InstanceGroupName": group, "DeepHealthChecks": ["InstanceStress"], **more}]
    world.sagemaker.start_cluster_health_check(ClusterName="ml", DeepHealthCheckConfigurations=checks)


def operation(world: World) -> dict[str, Any]:
    [found] = world.sagemaker.list_cluster_operations(ClusterName="ml", Type="DeepHealthCheck")["ClusterOperationSummaries"]
    return dict(world.sagemaker.describe_cluster_operation(ClusterName="ml", OperationId=found["OperationId"]))


def until_done(world: World) -> dict[str, Any]:
    return dict(world.until(lambda: operation(world), lambda found: found["Status"] == "Done"))


def results(world: World, found: dict[str, Any]) -> list[str]:
    name = f"/aws/sagemaker/Clusters/ml/{found['ClusterArn'].rpartition('/')[2]}"
    stream = f"DeepHealthCheckResults/{found['OperationId']}"
    return [event["message"] for event in world.client("logs").get_log_events(logGroupName=name, logStreamName=stream)["events"]]


def states(world: World) -> dict[str, str]:
    return {node["InstanceId"]: node["InstanceStatus"]["Status"] for node in world.nodes()}


def test_a_check_holds_its_nodes_until_they_pass(world: World, hold: Hold) -> None:
    world.in_service(world.group("workers", 2, **GPU))
    first, second = states(world)
    hold("hyperpod.node.deep_health_check")

    start(world, InstanceIds=[first])

    assert states(world) == {first: "DeepHealthCheckInProgress", second: "Running"}
    assert operation(world)["Status"] == "InProgress"
    answer = world.sagemaker.batch_reboot_cluster_nodes(ClusterName="ml", NodeIds=[second])
    assert [failed["ErrorCode"] for failed in answer["Failed"]] == ["InstanceIdInUse"]
    for refused in (lambda: start(world), lambda: world.sagemaker.update_cluster_software(ClusterName="ml")):
        with pytest.raises(ClientError, match=r"ConflictException.*deep health check"):
            refused()


def test_nodes_that_pass_run_again_and_the_result_is_logged(world: World) -> None:
    world.in_service(world.group("workers", 2, **GPU), world.group("head"))
    start(world)
    found = until_done(world)
    assert set(states(world).values()) == {"Running"}
    assert found["DeepHealthCheckDetails"] == [{"InstanceGroupName": "workers", "DeepHealthChecks": ["InstanceStress"]}]
    assert ["passed" in line for line in results(world, found)] == [True, True]


def test_nodes_without_accelerators_are_skipped(world: World, hold: Hold) -> None:
    world.in_service(world.group("workers"))
    hold("hyperpod.node.deep_health_check")
    start(world)
    until_done(world)
    assert set(states(world).values()) == {"Running"}


@pytest.mark.parametrize("recovery", ["Automatic", "None"])
def test_a_faulty_node_is_replaced_if_the_cluster_recovers_nodes(world: World, recovery: str) -> None:
    world.in_service(world.group("workers", 2, **GPU), NodeRecovery=recovery)
    before = states(world)
    faults.order(faults.Fault("sagemaker:StartClusterHealthCheck", kind="fail", message="NCCL Test output Bw: 30"))
    start(world)
    found = until_done(world)
    assert "Encountered FaultyInstance" in results(world, found)[0]
    world.until_status("InService")
    after = states(world)
    assert len(before.keys() & after.keys()) == (1 if recovery == "Automatic" else 2)
    assert sorted(after.values()) == (["Running"] * 2 if recovery == "Automatic" else ["Failure", "Running"])


def test_unknown_groups_and_instances_are_not_found(world: World) -> None:
    world.in_service(world.group("workers", **GPU))
    for wrong in ({"group": "other"}, {"InstanceIds": ["i-0123456789abcdef0"]}):
        with pytest.raises(ClientError, match="ResourceNotFound"):
            start(world, **wrong)


def test_slurm_controllers_are_neither_replaced_nor_deleted(world: World) -> None:
    world.in_service(world.group("head", **HEAD), world.group("work", **COMPUTE))
    [head] = [node["InstanceId"] for node in world.nodes() if node["InstanceGroupName"] == "head"]
    for operation in (world.sagemaker.batch_replace_cluster_nodes, world.sagemaker.batch_delete_cluster_nodes):
        with pytest.raises(ClientError, match="Slurm controller node"):
            operation(ClusterName="ml", NodeIds=[head])
    assert world.sagemaker.batch_reboot_cluster_nodes(ClusterName="ml", NodeIds=[head])["Successful"] == [head]


def test_a_request_has_at_most_25_nodes(world: World) -> None:
    world.in_service(world.group("workers"))
    ids = [f"i-0123456789abcd{number:03d}" for number in range(26)]
    with pytest.raises(ClientError, match="25"):
        world.sagemaker.batch_replace_cluster_nodes(ClusterName="ml", NodeIds=ids)
