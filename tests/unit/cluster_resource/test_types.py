"""Properties get the types that the service model has for them."""

from typing import Any

import pytest

from cluster_resource.desired import convert
from cluster_resource.errors import PropertyError
from tests.unit.cluster_resource.fake_sagemaker import SERVICE_MODEL
from tests.unit.cluster_resource.world import as_strings, group, request

SHAPE = SERVICE_MODEL.operation_model("CreateCluster").input_shape


def test_scalars_get_their_types_back() -> None:
    volume = {"EbsVolumeConfig": {"VolumeSizeInGB": 500, "RootVolume": True}}
    labels = {"Labels": {"tier": "1"}, "Taints": [{"Key": "gpu", "Value": "true", "Effect": "NoSchedule"}]}
    whole = group("a", 0, InstanceStorageConfigs=[volume], KubernetesConfig=labels, CapacityRequirements={"Spot": {}})
    wanted = request(whole, Tags=[{"Key": "count", "Value": "7"}], TieredStorageConfig={"Mode": "Enable"})
    assert convert(as_strings(wanted), SHAPE, "Request") == wanted


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"InstanceGroups": "x"}, r"Request\.InstanceGroups: must be a list"),
        ({"InstanceGroups": ["x"]}, r"Request\.InstanceGroups\[0\]: must be an object"),
        ({"InstanceGroups": [group("a", "four")]}, r"InstanceGroups\[0\]\.InstanceCount: must be a number, got 'four'"),
        ({"InstanceGroups": [{"InstanceCount": "4"}]}, r"InstanceGroups\[0\]\.InstanceGroupName: required"),
        ({"NodeRecovery": {}}, r"Request\.NodeRecovery: must be a string, got dict"),
        ({"InstanceGroup": []}, r"Request\.InstanceGroup: unknown field of CreateClusterRequest"),
    ],
)
def test_an_invalid_value_is_reported_with_its_path(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(PropertyError, match=words):
        convert(wrong, SHAPE, "Request")


def test_unknown_fields_of_another_release_are_kept() -> None:
    old = {"Novelty": {"a": "1"}, "InstanceGroups": [{"InstanceCount": "4", "Color": "red"}]}
    kept = {"Novelty": {"a": "1"}, "InstanceGroups": [{"InstanceCount": 4, "Color": "red"}]}
    assert convert(old, SHAPE, "Old", strict=False) == kept
