"""Every field of CreateCluster's input gets from a cluster file through a template and CloudFormation to the call."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from botocore.model import ServiceModel

from cluster_request.service_model import input_shape, shape, slim_model
from cluster_resource.desired import convert
from tests import cluster_files
from tests.contract.deployed import Deployed, as_cloudformation_sends
from tests.synth.synthesized import CLUSTER, synthesize
from tests.unit.cluster_request.request_leaves import full, leaves

CREATE = input_shape("CreateCluster")
GROUP = shape(shape(CREATE)["members"]["InstanceGroups"]["shape"])["member"]["shape"]


def paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of every leaf, with 0 for any item of a list."""
    items = list(value.items()) if isinstance(value, dict) else [(0, item) for item in value] if isinstance(value, list) else []
    for key, item in items:
        yield from paths(item, (*path, key))
    if not items:
        yield path


def with_our_scripts() -> dict[str, Any]:
    """Return a file with all that HyperPod takes with our scripts."""
    content: dict[str, Any] = yaml.safe_load(cluster_files.REFERENCE.read_text())
    overrides = {
        name: value
        for name, value in full(GROUP).items()
        if name not in ("InstanceGroupName", "InstanceCount", "LifeCycleConfig", "SlurmConfig")
    }
    # Other groups have one, which HyperPod does not take beside InstanceRequirements.
    content["instance_groups"][2]["overrides"] = overrides | {"InstanceType": None}
    content["slurm"]["metadata_access"] = "all"  # required by the role
    whole = {name: value for name, value in full(CREATE).items() if name not in ("ClusterName", "InstanceGroups", "Tags")}
    whole["Orchestrator"] = {"Eks": whole["Orchestrator"]["Eks"]}
    return content | {"overrides": whole, "tags": {"team": "vision"}, "node_recovery": "Automatic"}


def with_slurm_config() -> dict[str, Any]:
    """Return a file in which HyperPod sets Slurm up, which it refuses with our scripts."""
    content: dict[str, Any] = yaml.safe_load(cluster_files.REFERENCE.read_text())
    every = full(GROUP)
    scripts = {**every["LifeCycleConfig"], "OnCreate": None}
    for group in content["instance_groups"]:
        group["overrides"] = {"LifeCycleConfig": scripts, "ExecutionRole": every["ExecutionRole"]}
    content["instance_groups"][2]["overrides"]["SlurmConfig"] = every["SlurmConfig"]
    return content | {"overrides": {"Orchestrator": {"Slurm": full(CREATE)["Orchestrator"]["Slurm"]}}}


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The requests, as the custom resource gets them, of files that ask for everything between them."""
    contents = {"our-scripts": with_our_scripts(), "slurm-config": with_slurm_config()}
    folder = tmp_path_factory.mktemp("clusters")
    for name, content in contents.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(content))
    synthesized = synthesize(tmp_path_factory.mktemp("out"), folder)
    return {
        name: as_cloudformation_sends(Deployed(synthesized, name).properties(CLUSTER, "Custom::HyperPodCluster")["Request"])
        for name in contents
    }


def test_every_field_arrives_with_its_type(sent: dict[str, Any]) -> None:
    model = ServiceModel(json.loads(slim_model()))
    of_create = model.operation_model("CreateCluster").input_shape
    requests = {name: convert(each, of_create, "Request") for name, each in sent.items()}
    labels = ("InstanceGroups", 0, "KubernetesConfig", "Labels")
    arrived = {labels if path[:4] == labels else path for request in requests.values() for path in paths(request)}
    assert set(leaves()) - arrived == {("ClusterName",)}  # beside the request: the resource works it out
    request = requests["our-scripts"]
    assert request["InstanceGroups"][2]["CapacityRequirements"] == {"Spot": {}, "OnDemand": {}}
    assert request["InstanceGroups"][2]["InstanceStorageConfigs"][0]["EbsVolumeConfig"]["RootVolume"] is True
    assert request["TieredStorageConfig"]["InstanceMemoryAllocationPercentage"] == 1
