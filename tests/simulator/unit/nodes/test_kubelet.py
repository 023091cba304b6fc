"""A node's kubelet: labels, taints, addresses of pods."""

import ipaddress
import json
import subprocess
from typing import Any

import pytest

from cluster_request.kubernetes_objects.dependencies import dependencies
from local_aws.hyperpod.kubernetes import node_objects
from local_aws.hyperpod.model import Cluster, Node
from local_aws.network_interfaces import Interface
from local_aws.nodes.agent import kubelet
from local_aws.nodes.image.kubernetes import container_images


def node(address: str = "10.1.4.7", **spec: Any) -> Node:
    interface = Interface("eni-1", address, "subnet-1")
    return Node(
        "i-1",
        1,
        {"InstanceGroupName": "workers", "InstanceType": "ml.p5.48xlarge", "ExecutionRole": "nodes", **spec},
        [interface],
    )


def cluster() -> Cluster:
    return Cluster("123456789012", "us-west-2", "aws", "ml", "abc", {}, {}, {})


def pods_of(address: str) -> ipaddress.IPv4Network:
    [plugin] = kubelet._network(node(address))["plugins"]
    return ipaddress.IPv4Network(plugin["ipam"]["ranges"][0][0]["subnet"])


def option(name: str, of: Node) -> str:
    world = cluster()
    world.nodes.append(of)
    options = dict(each.removeprefix("--").split("=", 1) for each in kubelet._options(kubelet.member_of(world, of)))
    return options.get(name, "")


def test_a_node_has_the_labels_of_hyperpod_and_of_its_group() -> None:
    labels = option("node-labels", node(KubernetesConfig={"Labels": {"team": "a"}})).split(",")
    expected = ("cluster-name=ml", "instance-group-name=workers", "node-health-status=Unschedulable")
    assert {*(f"sagemaker.amazonaws.com/{each}" for each in expected), "team=a"} <= set(labels)
    assert "node.kubernetes.io/instance-type=ml.p5.48xlarge" in labels


def test_no_pod_is_scheduled_on_a_node_before_it_is_in_service() -> None:
    taints = option("register-with-taints", node(KubernetesConfig={"Taints": [{"Key": "gpu", "Effect": "NoExecute"}]}))
    assert taints == "gpu=:NoExecute,sagemaker.amazonaws.com/node-health-status=Unschedulable:NoSchedule"


@pytest.mark.parametrize(("name", "pods"), [("ml.g5.xlarge", 14), ("ml.g5.8xlarge", 29), ("ml.p5.48xlarge", 49)])
def test_kubelets_run_as_many_pods_as_on_aws(name: str, pods: int) -> None:
    """https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html."""
    one, world = node(InstanceType=name), cluster()
    world.nodes.append(one)
    assert kubelet._settings(one, "10.1.0.2").get("maxPods") == pods
    assert node_objects.status(kubelet.member_of(world, one), {})["allocatable"]["pods"] == str(pods)


def test_nodes_of_a_vpc_have_different_addresses_for_their_pods() -> None:
    addresses = ["10.1.0.0", "10.1.0.4", "10.1.0.5", "10.1.255.255"]
    networks = [pods_of(address) for address in addresses]
    assert all(network.subnet_of(ipaddress.IPv4Network("100.64.0.0/10")) for network in networks)
    assert not any(one.overlaps(other) for one in networks for other in networks if one is not other)


def test_the_token_of_a_node_has_no_address_of_the_embedded_aws() -> None:
    class Eks:
        name, region = "ml", "us-west-2"

    command = json.loads(json.dumps(kubelet._kubeconfig(Eks())))["users"][0]["user"]["exec"]  # type: ignore[arg-type]  # only these
    assert {"name": "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "value": "true"} in command["env"]


@pytest.mark.parametrize("region", ["us-west-2", "eu-south-2"])
def test_every_image_of_the_dependencies_has_a_local_one(region: str) -> None:
    pods = [item["spec"]["template"]["spec"] for item in dependencies(region) if item["kind"] == "DaemonSet"]
    named = {container["image"] for pod in pods for container in pod["containers"]}
    assert named
    assert named == set(kubelet._images(region))
    assert set(kubelet._images(region).values()) <= set(container_images._IMAGES)


@pytest.mark.parametrize("key", ["clusterDNS", "address"])
def test_the_settings_have_the_addresses_of_the_node_and_of_the_resolver(key: str) -> None:
    assert kubelet._settings(node(), "10.1.0.2")[key] == {"clusterDNS": ["10.1.0.2"], "address": "10.1.4.7"}[key]


def test_a_failing_kubelet_is_reported_with_its_own_error() -> None:
    error = "F1126 12:54:08.668771     717 server.go:269] failed to run Kubelet: could not detect clock speed"
    journal = [
        'time="2026-11-26T12:54:07Z" level=info msg="skip loading plugin" error="aufs is not supported: skip plugin"',
        error,
        "kubelet.service: Consumed 4.240s CPU time, 25.3M memory peak.",
        "kubelet.service: Scheduled restart job, restart counter is at 8.",
    ]
    found = subprocess.run(["sh", "-c", kubelet._ERRORS], input="\n".join(journal), capture_output=True, text=True, check=True)
    assert found.stdout.splitlines() == [error]
