"""The walk of AWS's blog post about HyperPod on EKS: a faulty node at the start, a training that loses its node, and the end."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from local_aws import durations, faults
from local_aws.clock import clock
from local_aws.hyperpod import health_records
from local_aws.hyperpod.deep_checks import FAULT
from local_aws.nodes.runner import SimulatedNodes
from local_aws.testing import Client
from tests.cluster_files import PROJECT
from tests.kubernetes.walk.people import People
from tests.kubernetes_nodes.pods import POD_S, UP_S, Pods
from tests.kubernetes_nodes.training import hyperpodpytorchjob, pytorchjob
from tests.local.walk.leftovers import leftovers
from tests.local.walk.workspace import Workspace
from tests.simulator.hyperpod.world import until

pytestmark = [pytest.mark.cdk, pytest.mark.local]

SPEED = 600.0
ADMIN, MEMBER, NAMESPACE = "Admin", "Researcher", "hyperpod-ns-research"
PREFIX = "sagemaker.amazonaws.com/"
JOBS = f"/apis/{{}}/v1/namespaces/{NAMESPACE}"
BANDWIDTH = "Bandwidth has less than threshold: Expected minimum threshold :80,NCCL Test output Bw: 30"
FAULTY = f"Encountered FaultyInstance. Replace the Instance. Region: us-west-2, InstanceType: g5.4xlarge. ERROR:{BANDWIDTH}"


def file(admin: str, member: str) -> dict[str, Any]:
    """Return examples/clusters/eks.yaml with deep health checks, a user of the team, and a file system that is deleted."""
    content: dict[str, Any] = yaml.safe_load((PROJECT / "examples/clusters/eks.yaml").read_text())
    content["eks"] |= {"admins": [admin], "teams": [{"name": "research", "role_arns": [member]}]}
    content["storage"]["lustre"]["removal"] = "destroy"
    content["instance_groups"][0]["deep_health_checks"] = ["InstanceStress"]
    return content | {"wait_hours": 6}  # for two checks, one after the other


class Walk:
    """The deployed cluster, as its administrator and a member of the team see it."""

    def __init__(self, client: Client, people: People, runner: SimulatedNodes) -> None:
        self.client, self._runner = client, runner
        self.admin, self.member = Pods(people.api(ADMIN)), Pods(people.api(MEMBER), NAMESPACE)
        [self.cluster] = client("sagemaker").list_clusters()["ClusterSummaries"]
        [system] = client("fsx").describe_file_systems()["FileSystems"]
        self.folder = f"/run/simulated-fsx/{system['DNSName']}/lustre/{system['LustreConfiguration']['MountName']}"

    @property
    def shared(self) -> Path:
        """The file system's folder on this machine."""
        [folder] = (Path(self._runner.describe()[0]["folder"]).parents[1] / "fsx").iterdir()
        return folder

    def labels(self) -> dict[str, tuple[str, str]]:
        """Each node's health status and deep health check status."""
        return {name: _health(node) for name, node in self.admin.nodes().items()}

    def until_healthy(self) -> set[str]:
        """The names of the nodes, once two are in service."""
        names = set(until(self.labels, lambda seen: list(seen.values()) == [("Schedulable", "Passed")] * 2, UP_S))
        assert names == {f"hyperpod-{machine['id']}" for machine in self._runner.describe()}
        return names

    def events(self) -> dict[str, list[str]]:
        """The reasons of HyperPod's events by node, in their order."""
        found: dict[str, list[str]] = {}
        items = self.admin.get("/api/v1/namespaces/default/events")["items"]
        for event in sorted(items, key=lambda event: int(event["metadata"]["resourceVersion"])):
            if event["source"].get("component") == "sagemaker-hyperpod":
                found.setdefault(event["involvedObject"]["name"], []).append(event["reason"])
        return found

    def records(self, prefix: str) -> list[dict[str, Any]]:
        """The records in the cluster's log streams with this prefix."""
        group = f"/aws/sagemaker/Clusters/{self.cluster['ClusterName']}/{self.cluster['ClusterArn'].rsplit('/')[-1]}"
        events = self.client("logs").filter_log_events(logGroupName=group, logStreamNamePrefix=prefix)["events"]
        return [json.loads(event["message"]) for event in events]

    def states(self, path: str) -> list[str]:
        """The states that a job has had."""
        return [condition["type"] for condition in self.member.get(path).get("status", {}).get("conditions", ())]


def _health(node: dict[str, Any]) -> tuple[str, str]:
    labels = node["metadata"]["labels"]
    return labels.get(f"{PREFIX}node-health-status", ""), labels.get(f"{PREFIX}deep-health-check-status", "")


def test_a_cluster_on_eks_replaces_faulty_nodes_and_training_resumes(
    workspace: Workspace, nodes: SimulatedNodes, client: Client, tmp_path: Path
) -> None:
    people = People(client, "eks", tmp_path)
    content = file(people.add(ADMIN), people.add(MEMBER))
    (workspace.folder / "clusters/eks.yaml").write_text(yaml.safe_dump(content))
    clock.set_speed(SPEED)
    durations.change({"eks.create": 1})
    faults.order(faults.Fault(FAULT, kind="fail", message=BANDWIDTH))
    workspace.deploy("eks")
    walk = Walk(client, people, nodes)
    assert_node_that_failed_its_check_is_replaced(walk)
    assert_training_survives_its_node(walk)
    assert_hyperpods_own_operator_trains(walk)
    assert_running_node_is_checked(walk)

    workspace.destroy("eks")
    assert nodes.describe() == []
    assert client("eks").list_clusters()["clusters"] == []
    left = leftovers(client)
    # The test created two roles; the service's belongs to the account.
    assert set(left.pop("role")) <= {ADMIN, MEMBER, "AWSServiceRoleForSageMakerHyperPod"}
    assert left.keys() <= {"log group"}


def assert_node_that_failed_its_check_is_replaced(walk: Walk) -> None:
    names, events = walk.until_healthy(), walk.events()
    [faulty] = [name for name, reasons in events.items() if "DeepHealthCheckFailed" in reasons]
    assert faulty not in names
    assert events[faulty] == ["DeepHealthCheckInProgress", "DeepHealthCheckFailed", "ReplacementRequested"]
    assert [events[name] for name in names] == [["DeepHealthCheckInProgress", "DeepHealthCheckPassed"]] * 2
    results = [(record["level"], record["msg"]) for record in walk.records("DeepHealthCheckResults/")]
    assert sorted(results) == [("error", FAULTY), *[("info", "Deep health check passed")] * 2]


def assert_training_survives_its_node(walk: Walk) -> None:
    job = f"{JOBS.format('kubeflow.org')}/pytorchjobs"
    walk.member.post(job, pytorchjob("fsdp", walk.folder))
    checkpoint = walk.shared / "step.json"
    until(lambda: checkpoint.exists() and json.loads(checkpoint.read_text())["step"], lambda step: step and step > 5, POD_S)
    lost = walk.member.pod("fsdp-worker-0")["spec"]["nodeName"]

    node_id = lost.removeprefix("hyperpod-")
    record = health_records.write(node_id, xid=79)["record"]

    assert walk.records(f"SagemakerHealthMonitoringAgent/workers/{node_id}")[-1] == record
    until(lambda: walk.states(f"{job}/fsdp"), lambda seen: seen[-3:] == ["Restarting", "Created", "Running"], UP_S)
    assert walk.events()[lost][-1] == "ReplacementRequested"
    assert lost not in {walk.member.pod(name)["spec"]["nodeName"] for name in ("fsdp-master-0", "fsdp-worker-0")}
    (walk.shared / "end").touch()
    until(lambda: walk.states(f"{job}/fsdp"), lambda seen: seen[-1] == "Succeeded", POD_S)
    first, last = (int(line.split()[-1]) for line in walk.member.output("fsdp-master-0").splitlines())
    assert last > first > 5


def assert_hyperpods_own_operator_trains(walk: Walk) -> None:
    """The job goes on from the checkpoint of the other one, and ends at once."""
    job = f"{JOBS.format('sagemaker.amazonaws.com')}/hyperpodpytorchjobs"
    walk.member.post(job, hyperpodpytorchjob("own", walk.folder))
    until(lambda: walk.states(f"{job}/own"), lambda seen: seen[-1:] == ["Succeeded"], POD_S)
    assert "ends at step" in walk.member.output("own-pods-1")


def assert_running_node_is_checked(walk: Walk) -> None:
    name = min(walk.until_healthy())
    check = {
        "InstanceGroupName": "workers",
        "InstanceIds": [name.removeprefix("hyperpod-")],
        "DeepHealthChecks": ["InstanceStress"],
    }
    request = {"ClusterName": walk.cluster["ClusterName"], "DeepHealthCheckConfigurations": [check]}
    walk.client("sagemaker").start_cluster_health_check(**request)
    until(lambda: walk.labels()[name], lambda seen: seen == ("Unschedulable", "InProgress"), POD_S)
    until(lambda: walk.labels()[name], lambda seen: seen == ("Schedulable", "Passed"), POD_S)
