"""The objects that HyperPod needs: their size, images, node selection and roles."""

import json
from typing import Any

import pytest

from cluster_request.kubernetes_objects.dependencies import dependencies, object_properties, objects_of
from cluster_request.kubernetes_objects.device_plugins import efa_image
from cluster_request.kubernetes_objects.health_agent import ACCOUNTS, UnknownRegionError, agent_image
from kubernetes_resource.objects import Desired
from tests.unit.cluster_request.kubernetes_objects.eks_file import eks_file

OBJECTS = dependencies("us-west-2")


def test_the_applier_accepts_the_objects_in_their_size() -> None:
    properties = object_properties(OBJECTS)
    desired = Desired.of({"ClusterName": "eks", "Name": "reference", **properties})
    assert len(desired.objects) == len(OBJECTS) == 19
    assert len(json.dumps(properties)) < 24_000


def test_an_unknown_region_is_refused() -> None:
    with pytest.raises(UnknownRegionError, match=r"region: HyperPod has no health monitoring agent in eu-west-3; use one of "):
        dependencies("eu-west-3")


@pytest.mark.parametrize("region", ACCOUNTS)
def test_images_are_of_the_region(region: str) -> None:
    registry, name = agent_image(region).split("/")
    assert registry == f"{ACCOUNTS[region]}.dkr.ecr.{region}.amazonaws.com"
    assert name.startswith("hyperpod-health-monitoring-agent:")
    assert f".dkr.ecr.{region}.amazonaws.com/eks/" in efa_image(region)


def test_daemon_sets_run_on_their_instance_types() -> None:
    [*sets] = [item for item in OBJECTS if item["kind"] == "DaemonSet"]
    found = {}
    for item in sets:
        affinity = item["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        found[item["metadata"]["name"]] = set(affinity["nodeSelectorTerms"][0]["matchExpressions"][0]["values"])
    assert {"ml.p5.48xlarge", "ml.g6e.12xlarge"} <= found["health-monitoring-agent"] & found["nvidia-device-plugin"]
    assert found["health-monitoring-agent-non-nvidia"] >= {"ml.trn1.32xlarge", "ml.trn2.48xlarge"}
    assert "ml.p5.48xlarge" in found["aws-efa-k8s-device-plugin"]
    assert found["neuron-device-plugin"] >= {"ml.trn1.32xlarge", "ml.trn2.48xlarge"}
    assert not found["neuron-device-plugin"] & found["nvidia-device-plugin"]
    assert not any(
        name.startswith(("ml.c5", "ml.m5")) for name in found["health-monitoring-agent"] | found["nvidia-device-plugin"]
    )


def test_every_role_is_bound_and_every_account_exists() -> None:
    names = {
        kind: {item["metadata"]["name"] for item in OBJECTS if item["kind"] == kind} for kind in ("ClusterRole", "ServiceAccount")
    }
    bindings = [item for item in OBJECTS if item["kind"] == "ClusterRoleBinding"]
    assert {item["roleRef"]["name"] for item in bindings} == names["ClusterRole"]
    accounts = {subject["name"] for item in bindings for subject in item["subjects"] if subject["kind"] == "ServiceAccount"}
    assert accounts == names["ServiceAccount"]


def pods() -> dict[str, Any]:
    taints = (
        {"key": "team", "value": "vision", "effect": "NoSchedule"},
        {"key": "team", "value": "vision", "effect": "NoSchedule"},
        {"key": "expensive", "effect": "NoExecute"},
        {"key": "slow", "effect": "PreferNoSchedule"},
    )
    objects = objects_of(eks_file(taints=taints), region="us-west-2")
    return {item["metadata"]["name"]: item["spec"]["template"]["spec"] for item in objects if item["kind"] == "DaemonSet"}


@pytest.mark.parametrize("name", ["nvidia-device-plugin", "aws-efa-k8s-device-plugin", "neuron-device-plugin"])
def test_plugins_tolerate_the_taints_of_the_file_and_of_hyperpod(name: str) -> None:
    tolerated = pods()[name]["tolerations"]
    unschedulable = "sagemaker.amazonaws.com/node-health-status"
    assert {"key": unschedulable, "operator": "Equal", "value": "Unschedulable", "effect": "NoSchedule"} in tolerated
    assert tolerated[2:] == [
        {"key": "expensive", "operator": "Exists", "effect": "NoExecute"},
        {"key": "team", "operator": "Equal", "value": "vision", "effect": "NoSchedule"},
    ]


def test_the_agent_tolerates_everything() -> None:
    operators = [(each["operator"], each.get("key")) for each in pods()["health-monitoring-agent"]["tolerations"]]
    assert operators == [("Exists", None), ("Exists", None)]


def test_plugins_that_drop_all_capabilities_ask_for_nothing_that_needs_one() -> None:
    found = pods()
    for name in ("nvidia-device-plugin", "neuron-device-plugin"):
        [container] = found[name]["containers"]
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        # It lets a container manage MIG, for which the container runtime requires CAP_SYS_ADMIN.
        assert "NVIDIA_MIG_MONITOR_DEVICES" not in {each["name"] for each in container.get("env", ())}
