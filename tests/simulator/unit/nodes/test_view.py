"""What HyperPod's agent sees of a cluster and its instance types."""

import json
from typing import Any

import pytest

from local_aws.hyperpod.model import Cluster, Group, Node
from local_aws.network_interfaces import Interface
from local_aws.nodes.agent.behaviour import Behaviour
from local_aws.nodes.agent.metadata import devices
from local_aws.nodes.agent.view import ClusterView, Member, shape


def node(group: str, number: int, address: str, status: str = "Running") -> Node:
    spec = {"InstanceGroupName": group, "InstanceType": "ml.p5.48xlarge"}
    return Node(f"i-{number}", number, spec, [Interface(f"eni-{number}", address, "subnet-1")], status)


def cluster(*nodes: Node) -> Cluster:
    spec = {"InstanceGroupName": "workers", "InstanceType": "ml.p5.48xlarge", "InstanceCount": 2, "ThreadsPerCore": 1}
    return Cluster("123456789012", "us-west-2", "aws", "ml", "abc", {}, {}, {"workers": Group(spec)}, list(nodes))


def test_the_view_has_the_nodes_that_stay_with_their_names_and_the_shape_of_their_groups() -> None:
    one = cluster(node("workers", 1, "10.1.0.6"), node("workers", 2, "10.1.0.7", status="ShuttingDown"))
    view = ClusterView.of(one, Behaviour())
    assert view.members == (Member("workers", "workers-1", "i-1", "10.1.0.6"),)
    assert view.members[0].hostname == "ip-10-1-0-6"
    assert view.shapes["workers"].cpus == 96
    instances = json.loads(view.resource_config)["InstanceGroups"][0]["Instances"]
    assert [one["InstanceName"] for one in instances] == ["workers-1"]


def test_views_are_equal_until_the_cluster_changes() -> None:
    one = cluster(node("workers", 1, "10.1.0.6"))
    before = ClusterView.of(one, Behaviour())
    assert ClusterView.of(one, Behaviour()) == before
    one.nodes.append(node("workers", 2, "10.1.0.7"))
    assert ClusterView.of(one, Behaviour()) != before


@pytest.mark.parametrize(("how", "group"), [("null", {"Instances": None}), ("absent", {}), ("list", {"Instances": []})])
def test_a_group_without_nodes_is_written_as_asked(how: Any, group: dict[str, object]) -> None:
    view = ClusterView.of(cluster(), Behaviour(empty_instances=how))
    [written] = json.loads(view.resource_config)["InstanceGroups"]
    assert written == {"Name": "workers", "InstanceType": "ml.p5.48xlarge", **group}
    assert view.members == ()


def test_views_are_equal_until_a_node_gets_its_line() -> None:
    one = cluster(node("workers", 1, "10.1.0.6"), node("workers", 2, "10.1.0.7"))
    before = ClusterView.of(one, Behaviour(), {"10.1.0.6", "10.1.0.9"})
    assert [member.id for member in before.listed_of("workers")] == ["i-1"]
    assert ClusterView.of(one, Behaviour(), {"10.1.0.6"}) == before
    assert ClusterView.of(one, Behaviour(), {"10.1.0.6", "10.1.0.7"}) != before


@pytest.mark.parametrize(
    ("type_name", "threads", "cpus", "gpus"),
    [("ml.p5.48xlarge", None, 192, 8), ("ml.p5.48xlarge", 1, 96, 8), ("ml.c5.xlarge", 1, 2, 0), ("ml.unheard.of", None, 1, 0)],
)
def test_an_instance_type_has_the_processors_and_gpus_that_ec2_says(
    type_name: str, threads: int | None, cpus: int, gpus: int
) -> None:
    seen = shape(type_name, threads)
    assert (seen.cpus, seen.gpus) == (cpus, gpus)


def test_every_gpu_has_a_stand_in() -> None:
    assert devices("ml.g5.2xlarge") == ("/dev/null:/dev/nvidia0",)
    assert devices("ml.c5.xlarge") == ()


def test_the_file_names_the_orchestrator_and_agents_have_addresses_of_another_network() -> None:
    """The shape of the file on nodes: awsome-distributed-ai, devops-agent/docs/hyperpod-mental-model.md, 2026-07."""
    one = cluster(node("head", 1, "10.1.0.4"), node("head", 2, "10.1.0.5"))
    head = {"InstanceGroupName": "head", "InstanceType": "ml.m5.large", "SlurmConfig": {"NodeType": "Controller"}}
    one.groups = {"head": Group(head)}
    config = json.loads(ClusterView.of(one, Behaviour()).resource_config)
    assert config["ClusterConfig"]["ClusterType"] == "Slurm"
    assert config["ClusterConfig"]["SlurmConfig"] == {"PrimaryControllerIp": "10.1.0.4", "SecondaryControllerIps": ["10.1.0.5"]}
    assert config["InstanceGroups"][0]["Instances"][0] == {
        "InstanceName": "head-1",
        "AgentIpAddress": "172.16.0.4",
        "CustomerIpAddress": "10.1.0.4",
        "InstanceId": "i-1",
    }
    plain = json.loads(ClusterView.of(one, Behaviour(cluster_type="absent", agent_address="same")).resource_config)
    assert set(plain["ClusterConfig"]) == {"ClusterArn", "ClusterName"}
    assert plain["InstanceGroups"][0]["Instances"][0]["AgentIpAddress"] == "10.1.0.4"
