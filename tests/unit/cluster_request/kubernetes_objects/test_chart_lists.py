"""The instance types that device plugins and health agents run on, against a stored copy of AWS's chart."""

import json
from enum import StrEnum
from typing import Any

import pytest

from cluster_request.kubernetes_objects.dependencies import objects_of
from config.model import ClusterConfig
from tests.cluster_files import PROJECT
from tests.unit.cluster_request.kubernetes_objects.eks_file import eks_file

CHART = json.loads((PROJECT / "tests/data/charts/instance_types.json").read_text())["types"]
NVIDIA = {"nvidia-device-plugin", "health-monitoring-agent"}
NEURON = {"neuron-device-plugin", "health-monitoring-agent-non-nvidia"}
EFA = {"aws-efa-k8s-device-plugin"}
EC2 = ("c6a", "c6i", "c7g", "c8g", "g4dn", "m6a", "m6i", "m7g", "m8g", "r6i")


class Reason(StrEnum):
    """Why only one of the two lists has a type."""

    LATER_G4DN = "https://github.com/aws/sagemaker-hyperpod-cli/pull/435"
    LATER_G7 = "https://github.com/aws/sagemaker-hyperpod-cli/pull/447, and agent 1.0.2297.0 of pull/443"
    LATER_TRN2 = "https://github.com/aws/sagemaker-hyperpod-cli/pull/444"
    EC2_HAS_EFA = "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html#efa-instance-types"
    NOT_IN_HYPERPOD = "ClusterInstanceType of botocore 1.44.8 lacks the type; a file with it gets the DaemonSet by its family"


ONLY_OURS: dict[tuple[str, str], Reason] = {
    **{(name, "ml.g4dn."): Reason.LATER_G4DN for name in NVIDIA},
    **{(name, "ml.g7."): Reason.LATER_G7 for name in NVIDIA | EFA},
    ("neuron-device-plugin", "ml.trn2.3xlarge"): Reason.LATER_TRN2,
    **{("aws-efa-k8s-device-plugin", f"ml.{name}."): Reason.EC2_HAS_EFA for name in EC2},
}
ONLY_AWS: dict[tuple[str, str], Reason] = {
    **{(name, "ml.inf2."): Reason.NOT_IN_HYPERPOD for name in NEURON},
    ("neuron-device-plugin", "ml.trn1.2xlarge"): Reason.NOT_IN_HYPERPOD,
}


def types_of(config: ClusterConfig) -> dict[str, set[str]]:
    """Return the instance types of each DaemonSet."""
    found: dict[str, set[str]] = {}
    for item in objects_of(config, region="us-west-2"):
        if item["kind"] == "DaemonSet":
            affinity = item["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
            [term] = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
            found[item["metadata"]["name"]] = set(term["matchExpressions"][0]["values"])
    return found


def with_group(group: dict[str, Any] | None = None, **more: Any) -> ClusterConfig:
    """Return the file with one group that has these fields, and with more fields."""
    content = eks_file().model_dump(mode="json", exclude_unset=True)
    groups = [{"name": "workers", "instance_type": "ml.g5.xlarge", "instance_count": 1, **(group or {})}]
    return ClusterConfig.model_validate({**content, "instance_groups": groups, **more})


@pytest.mark.parametrize("name", CHART)
def test_a_type_that_only_one_side_has_has_a_reason(name: str) -> None:
    ours, chart = types_of(eks_file())[name], set(CHART[name])
    for types, reasons in ((ours - chart, ONLY_OURS), (chart - ours, ONLY_AWS)):
        known = [prefix for daemons, prefix in reasons if daemons == name]
        assert sorted(each for each in types if not each.startswith(tuple(known))) == []
        assert [prefix for prefix in known if not any(each.startswith(prefix) for each in types)] == []  # no longer needed


@pytest.mark.parametrize(
    ("type_name", "more", "expected"),
    [
        ("ml.p6e-gb200.36xlarge", {}, NVIDIA | EFA),  # listed, without properties
        ("ml.g7.8xlarge", {}, NVIDIA | EFA),
        ("ml.g4dn.xlarge", {}, NVIDIA),
        ("ml.p7e.48xlarge", {}, NVIDIA),  # unknown
        ("ml.p7e.48xlarge", {"overrides": {"NetworkInterface": {"InterfaceType": "efa"}}}, NVIDIA | EFA),
        ("ml.g5.xlarge", {"overrides": {"NetworkInterface": {"InterfaceType": "efa"}}}, NVIDIA),  # the table knows better
        ("ml.trn3.48xlarge", {}, NEURON),
        ("ml.inf2.xlarge", {}, NEURON),
        ("ml.m9g.xlarge", {}, set()),
    ],
)
def test_nodes_get_what_their_devices_need(type_name: str, more: dict[str, Any], expected: set[str]) -> None:
    restricted = {"RestrictedInstanceGroups": [{"InstanceType": "ml.p8.48xlarge"}]}
    found = types_of(with_group({"instance_type": type_name, **more}, overrides=restricted))
    assert {name for name, types in found.items() if type_name in types} == expected
    assert {name for name, types in found.items() if "ml.p8.48xlarge" in types} == NVIDIA
