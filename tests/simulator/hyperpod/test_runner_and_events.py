"""The seam to what runs nodes, and what EventBridge hears."""

import json
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from local_aws import faults
from local_aws.credentials import CONTROL_HEADER, OWNER
from local_aws.hyperpod import service_behaviour, starting
from local_aws.hyperpod.check_only_runner import CheckOnlyRunner
from local_aws.hyperpod.node_runner import Done, Launch, Outcome, Reserved
from local_aws.nodes.agent.behaviour import Behaviour
from local_aws.nodes.agent.resource_config import resource_config
from local_aws.testing import ask
from tests.simulator.hyperpod.world import Hold, World

pytestmark = pytest.mark.local
IMAGE = "ami-0123456789abcdef0"


class Waiting:
    """A runner whose nodes start when the test says so."""

    starts_in_real_time = False
    runs_kubelets = False

    def __init__(self) -> None:
        self.started: dict[str, tuple[Launch, Done]] = {}
        self.stopped: list[str] = []
        self.rebooted: dict[str, Done] = {}
        self.reserved: dict[str, tuple[list[str], Reserved]] = {}

    def start(self, launch: Launch, done: Done) -> None:
        self.started[launch.node.id] = (launch, done)

    def stop(self, node_id: str) -> None:
        self.stopped.append(node_id)

    def reboot(self, node_id: str, done: Done) -> None:
        self.rebooted[node_id] = done

    def reserve(self, name: str, node_ids: Sequence[str], done: Reserved) -> None:
        self.reserved[name] = (list(node_ids), done)

    def release(self, name: str, node_ids: Sequence[str], done: Callable[[], None]) -> None:
        del self.reserved[name]
        done()

    def reset(self) -> None:
        self.started.clear()


@pytest.fixture
def runner() -> Iterator[Waiting]:
    runner = Waiting()
    starting.use(runner)
    yield runner
    starting.use(CheckOnlyRunner())


def started(world: World, runner: Waiting, count: int) -> list[tuple[Launch, Done]]:
    return list(world.until(lambda: list(runner.started.values()), lambda nodes: len(nodes) == count))


def test_a_node_gets_the_addresses_of_all_nodes_and_is_running_when_its_runner_says_so(world: World, runner: Waiting) -> None:
    arn = world.create(world.group("controller"), world.group("workers", 2))
    launches = started(world, runner, 3)
    config = resource_config(launches[0][0].cluster, Behaviour(cluster_type="absent"))
    assert config["ClusterConfig"] == {"ClusterArn": arn, "ClusterName": "ml"}
    workers = next(group for group in config["InstanceGroups"] if group["Name"] == "workers")
    assert [one["InstanceName"] for one in workers["Instances"]] == ["workers-1", "workers-2"]
    addresses = {one["CustomerIpAddress"] for group in config["InstanceGroups"] for one in group["Instances"]}
    assert addresses == {interface["PrivateIpAddress"] for interface in world.interfaces()}
    assert world.cluster()["ClusterStatus"] == "Creating"
    for _, done in launches:
        done(Outcome())
    world.until_status("InService")


def test_one_node_that_fails_fails_the_cluster_and_names_itself(world: World, runner: Waiting) -> None:
    world.create(world.group("workers", 2))
    (_, first), (launch, second) = started(world, runner, 2)
    first(Outcome())
    second(Outcome("step mount-fsx: mount.lustre: no such device"))
    seen = world.until_status("Failed")
    text = f"Instance group 'workers', instance {launch.node.id}: step mount-fsx: mount.lustre: no such device"
    assert seen["FailureMessage"] == text
    assert runner.stopped == [one["InstanceId"] for one in world.nodes()]


def test_a_node_that_shall_go_is_stopped_and_what_it_says_afterwards_is_nothing(world: World, runner: Waiting) -> None:
    world.create(world.group("workers"))
    [(launch, done)] = started(world, runner, 1)
    done(Outcome())
    world.until_status("InService")
    world.sagemaker.delete_cluster(ClusterName="ml")
    assert runner.stopped == [launch.node.id]
    done(Outcome("too late"))
    world.until_gone()


def image_of(world: World, launch: Launch) -> Any:
    found = world.sagemaker.describe_cluster_node(ClusterName="ml", NodeId=launch.node.id)["NodeDetails"]
    return found.get("CurrentImageId")


def test_a_software_update_starts_the_nodes_again(world: World, runner: Waiting) -> None:
    world.create(world.group("workers"))
    [(launch, done)] = started(world, runner, 1)
    done(Outcome())
    world.until_status("InService")
    runner.started.clear()
    world.sagemaker.update_cluster_software(ClusterName="ml", ImageId=IMAGE)
    [(again, done)] = started(world, runner, 1)
    assert (again.node.id, runner.stopped) == (launch.node.id, [launch.node.id])
    done(Outcome())
    assert world.until_status("InService")["InstanceGroups"][0]["SoftwareUpdateStatus"] == "Succeeded"
    assert image_of(world, again) == IMAGE


def test_a_software_update_to_a_release_shows_it_on_its_nodes(world: World) -> None:
    world.in_service(world.group("a", ImageReleaseVersion="1.0.0"), world.group("b", ImageReleaseVersion="1.0.0"))
    world.sagemaker.update_cluster_software(
        ClusterName="ml", InstanceGroups=[{"InstanceGroupName": "a", "ImageReleaseVersion": "1.1.0"}]
    )
    groups = world.until_status("InService")["InstanceGroups"]
    releases = {"a": "1.1.0", "b": "1.0.0"}
    assert {group["InstanceGroupName"]: group["CurrentImageReleaseVersion"] for group in groups} == releases
    assert {node["InstanceGroupName"]: node["CurrentImageReleaseVersion"] for node in world.nodes()} == releases
    for node in world.nodes():
        details = world.sagemaker.describe_cluster_node(ClusterName="ml", NodeId=node["InstanceId"])["NodeDetails"]
        assert details["CurrentImageReleaseVersion"] == releases[node["InstanceGroupName"]]


@pytest.mark.parametrize(("switch", "attempts"), [("several", 4), ("one", 1)])
def test_a_software_update_whose_scripts_fail_is_tried_again_and_then_rolled_back(
    world: World, runner: Waiting, switch: str, attempts: int
) -> None:
    world.create(world.group("workers"))
    service_behaviour.choose({"software_attempts": switch})
    started(world, runner, 1)[0][1](Outcome())
    world.until_status("InService")
    world.sagemaker.update_cluster_software(ClusterName="ml", ImageId=IMAGE)
    for attempt in range(attempts):
        runner.started.clear()
        [(launch, done)] = started(world, runner, 1)
        state = world.nodes()[0]["InstanceStatus"]
        assert (state["Status"], state["Message"]) == ("SystemUpdating", "step users: no group" if attempt else "")
        done(Outcome("step users: no group"))

    if switch == "several":
        runner.started.clear()
        [(_, done)] = started(world, runner, 1)
        [group] = world.until_status("SystemUpdating")["InstanceGroups"]
        assert group["SoftwareUpdateStatus"] == "RollbackInProgress"
        done(Outcome())
    seen = world.until_status("InService")
    [group] = seen["InstanceGroups"]
    assert (group["SoftwareUpdateStatus"], group.get("CurrentImageId")) == ("Failed", None)
    assert seen["FailureMessage"].endswith("step users: no group")
    assert world.nodes()[0]["InstanceStatus"]["Status"] == "Running"
    assert image_of(world, launch) is None


def test_a_software_update_that_is_to_fail_stops_no_node(world: World, runner: Waiting) -> None:
    world.create(world.group("workers"))
    [(_, done)] = started(world, runner, 1)
    done(Outcome())
    world.until_status("InService")
    faults.order(faults.Fault("sagemaker:UpdateClusterSoftware", kind="fail", message="no image"))
    world.sagemaker.update_cluster_software(ClusterName="ml")
    group = world.until_status("InService")["InstanceGroups"][0]
    assert group["SoftwareUpdateStatus"] == "Failed"
    assert runner.stopped == []


@pytest.mark.parametrize(("outcome", "status"), [(Outcome(), "Running"), (Outcome("it did not come back"), "Failure")])
def test_a_node_is_rebooted_by_its_runner(world: World, runner: Waiting, outcome: Outcome, status: str) -> None:
    world.create(world.group("workers"))
    [(launch, done)] = started(world, runner, 1)
    done(Outcome())
    world.until_status("InService")
    world.sagemaker.batch_reboot_cluster_nodes(ClusterName="ml", NodeIds=[launch.node.id])
    assert world.nodes()[0]["InstanceStatus"]["Status"] == "Pending"
    runner.rebooted[launch.node.id](outcome)
    seen = world.until(lambda: world.nodes()[0]["InstanceStatus"], lambda seen: seen["Status"] != "Pending")
    assert (seen["Status"], seen.get("Message", "")) == (status, outcome.failure or "")


def heard(arn: str) -> list[dict[str, Any]]:
    """The events that EventBridge had about the cluster with that ARN."""
    events = [entry["event"] for entry in ask("events")]
    return [event for event in events if event["source"] == "aws.sagemaker" and event["resources"] == [arn]]


def test_eventbridge_hears_of_every_state(world: World) -> None:
    faults.order(faults.Fault("sagemaker:CreateCluster", kind="fail", message="no capacity"))
    arn = world.create(world.group("a"), name="told")

    def states() -> list[str]:
        return [event["detail"]["ClusterStatus"] for event in heard(arn)]

    assert world.until(states, lambda seen: "Failed" in seen) == ["Creating", "RollingBack", "Failed"]
    last = next(event for event in heard(arn) if event["detail"]["ClusterStatus"] == "Failed")
    assert last["detail-type"] == "SageMaker HyperPod Cluster State Change"
    assert last["detail"]["FailureMessage"] == "no capacity"


def control(world: World, name: str, body: dict[str, Any]) -> Any:
    url, headers = f"{world.endpoint}/_local_aws/{name}", {CONTROL_HEADER: OWNER.control_token}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers, method="POST")
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def test_durations_quotas_and_faults_are_ordered_over_http(world: World) -> None:
    assert control(world, "durations", {"hyperpod.delete": 7})["hyperpod.delete"] == 7
    quota = {"ml.trn1.32xlarge for cluster usage": 0}
    assert control(world, "quotas", quota) == quota
    control(world, "faults", {"operation": "sagemaker:DescribeCluster", "code": "InternalFailure", "status": 500})
    with pytest.raises(world.sagemaker.exceptions.ClientError, match="ResourceNotFound"):  # the second try
        world.cluster()


def test_a_deletion_that_is_to_fail_stays_in_deleting_and_the_nodes_say_why(world: World) -> None:
    world.in_service(world.group("a"))
    faults.order(faults.Fault("sagemaker:DeleteCluster", kind="fail", message="does not have permission to perform: x"))
    world.sagemaker.delete_cluster(ClusterName="ml")
    assert world.nodes()[0]["InstanceStatus"] == {
        "Status": "ShuttingDown",
        "Message": "does not have permission to perform: x",
    }
    assert world.cluster()["ClusterStatus"] == "Deleting"


def test_a_deleted_group_is_deleting_while_its_nodes_go(world: World, hold: Hold) -> None:
    world.in_service(world.group("a"), world.group("b"))
    hold("hyperpod.node.shut_down")
    world.sagemaker.update_cluster(ClusterName="ml", InstanceGroupsToDelete=["b"])

    def groups() -> dict[str, tuple[str, int]]:
        return {
            group["InstanceGroupName"]: (group["Status"], group["TargetCount"]) for group in world.cluster()["InstanceGroups"]
        }

    assert world.until(groups, lambda seen: seen["b"][0] == "Deleting") == {"a": ("Updating", 1), "b": ("Deleting", 0)}


def test_a_deep_health_check_skips_nodes_whose_jobs_do_not_end(world: World, runner: Waiting, hold: Hold) -> None:
    world.create(world.group("workers", 2, InstanceType="ml.g5.8xlarge"))
    for _, done in started(world, runner, 2):
        done(Outcome())
    world.until_status("InService")
    first, second = (node["InstanceId"] for node in world.nodes())
    hold("hyperpod.node.deep_health_check")
    checks = [{"InstanceGroupName": "workers", "DeepHealthChecks": ["InstanceStress"]}]
    world.sagemaker.start_cluster_health_check(ClusterName="ml", DeepHealthCheckConfigurations=checks)

    [(name, (nodes, reserved))] = runner.reserved.items()
    assert set(nodes) == {first, second}
    assert {node["InstanceStatus"]["Status"] for node in world.nodes()} == {"Running"}
    runner.reserved.clear()
    reserved({first})
    world.until(lambda: runner.reserved.get(name), bool)[1]({first})
    states = {node["InstanceId"]: node["InstanceStatus"]["Status"] for node in world.nodes()}
    assert states == {first: "Running", second: "DeepHealthCheckInProgress"}
