"""Every field of CreateCluster's input gets from a cluster file through a template and CloudFormation to the call."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from botocore.model import ServiceModel

from cluster_resource.typed import typed
from config.service_model import input_shape, shape, slim_model
from stacks.clusters_app import PROJECT
from tests.contract.deployed import Deployed, as_cloudformation_sends
from tests.synth.synthesized import CLUSTER, synthesize
from tests.unit.config.request_leaves import full, leaves

CREATE = input_shape("CreateCluster")
GROUP = shape(shape(CREATE)["members"]["InstanceGroups"]["shape"])["member"]["shape"]


def paths(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of every leaf, with 0 for any item of a list."""
    items = list(value.items()) if isinstance(value, dict) else [(0, item) for item in value] if isinstance(value, list) else []
    for key, item in items:
        yield from paths(item, (*path, key))
    if not items:
        yield path


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The request, as the custom resource gets it, of a file that asks for everything at once."""
    content = yaml.safe_load((PROJECT / "clusters" / "reference.yaml").read_text())
    workers = content["instance_groups"][2]
    workers["overrides"] = {
        name: value for name, value in full(GROUP).items() if name not in ("InstanceGroupName", "InstanceCount")
    }
    # Other groups have these, which HyperPod does not take beside InstanceRequirements and OnInitComplete.
    workers["overrides"] |= {"InstanceType": None, "LifeCycleConfig": {**full(GROUP)["LifeCycleConfig"], "OnCreate": None}}
    whole = {name: value for name, value in full(CREATE).items() if name not in ("ClusterName", "InstanceGroups", "Tags")}
    content |= {"overrides": whole, "tags": {"team": "vision"}, "node_recovery": "Automatic"}
    folder = tmp_path_factory.mktemp("clusters")
    (folder / "everything.yaml").write_text(yaml.safe_dump(content))
    synthesized = synthesize(tmp_path_factory.mktemp("out"), folder)
    properties = Deployed(synthesized, "everything").properties(CLUSTER, "Custom::HyperPodCluster")
    return as_cloudformation_sends(properties["Request"])


def test_every_field_arrives_with_its_type(sent: Any) -> None:
    model = ServiceModel(json.loads(slim_model()))
    request = typed(sent, model.operation_model("CreateCluster").input_shape, "Request")
    labels = ("InstanceGroups", 0, "KubernetesConfig", "Labels")
    arrived = {labels if path[:4] == labels else path for path in paths(request)}
    assert set(leaves()) - arrived == {("ClusterName",)}  # beside the request: the resource works it out
    assert request["InstanceGroups"][2]["CapacityRequirements"] == {"Spot": {}, "OnDemand": {}}
    assert request["InstanceGroups"][2]["InstanceStorageConfigs"][0]["EbsVolumeConfig"]["RootVolume"] is True
    assert request["TieredStorageConfig"]["InstanceMemoryAllocationPercentage"] == 1
