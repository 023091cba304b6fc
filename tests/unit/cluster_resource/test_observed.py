"""All fields of DescribeCluster get the names that a request uses."""

from typing import Any

import pytest

from cluster_resource.observed import CLUSTER_SETTINGS, GROUP_KINDS, RENAMED, RENAMED_INSIDE, SAME_NAME, cluster_of
from cluster_resource.plan import UPDATABLE
from tests.unit.cluster_resource.fake_sagemaker import SERVICE_MODEL

CREATE = SERVICE_MODEL.operation_model("CreateCluster").input_shape
UPDATE = SERVICE_MODEL.operation_model("UpdateCluster").input_shape
DESCRIBE = SERVICE_MODEL.operation_model("DescribeCluster").output_shape


def test_every_field_of_a_requested_group_is_read_back() -> None:
    for kind in GROUP_KINDS:
        asked = set(CREATE.members[kind].member.members)
        shown = set(DESCRIBE.members[kind].member.members)
        assert asked <= {*SAME_NAME, *RENAMED, *RENAMED_INSIDE}
        assert {field for field in SAME_NAME if field in asked} <= shown


def test_every_field_that_an_update_takes_is_compared() -> None:
    apart = {"ClusterName", "InstanceGroupsToDelete", *GROUP_KINDS}
    assert set(UPDATE.members) - apart == set(UPDATABLE)
    assert set(CLUSTER_SETTINGS) <= set(DESCRIBE.members)


def test_renamed_fields_get_the_names_of_the_request() -> None:
    shown: dict[str, Any] = {
        "InstanceGroupName": "a",
        "TargetCount": 4,
        "CurrentCount": 3,
        "MinCount": 2,
        "CurrentImageId": "ami-1",
        "DesiredImageId": "ami-2",
        "Status": "InService",
        "KubernetesConfig": {"CurrentLabels": {"a": "1"}, "DesiredLabels": {"a": "2"}, "CurrentTaints": []},
        "InstanceRequirements": {"CurrentInstanceTypes": ["ml.c5.xlarge"]},
        "AutoPatchConfig": {"PatchingStrategy": "WhenIdle", "CurrentPatchSchedule": {"NextPatchDate": "x"}},
    }
    described = {"ClusterName": "c", "ClusterArn": "arn:cluster/x", "ClusterStatus": "InService", "InstanceGroups": [shown]}
    (group,) = cluster_of(described, {}, None).groups
    assert (group.target, group.current) == (4, 3)
    assert group.specification == {
        "InstanceGroupName": "a",
        "InstanceCount": 4,
        "MinInstanceCount": 2,
        "ImageId": "ami-2",
        "KubernetesConfig": {"Labels": {"a": "2"}, "Taints": []},
        "InstanceRequirements": {"InstanceTypes": ["ml.c5.xlarge"]},
        "AutoPatchConfig": {"PatchingStrategy": "WhenIdle", "PatchSchedule": {"NextPatchDate": "x"}},
    }


def sample(shape: Any) -> Any:
    """A value of the shape with all members."""
    match shape.type_name:
        case "structure":
            return {name: sample(member) for name, member in shape.members.items()}
        case "list":
            return [sample(shape.member)]
        case "integer":
            return 1
    return "x"


def unknown(value: Any, shape: Any, path: str) -> list[str]:
    """The members of a value that its shape does not have: boto3 refuses a call with one."""
    if shape.type_name == "list":
        return [each for item in value for each in unknown(item, shape.member, path)]
    if shape.type_name != "structure":
        return []
    known = {name: item for name, item in value.items() if name in shape.members}
    below = [each for name, item in known.items() for each in unknown(item, shape.members[name], f"{path}.{name}")]
    return [*(f"{path}.{name}" for name in value.keys() - known), *below]


@pytest.mark.parametrize("kind", GROUP_KINDS)
def test_an_update_can_repeat_a_group_that_the_file_does_not_have(kind: str) -> None:
    shown = {**sample(DESCRIBE.members[kind].member), "SoftwareUpdateStatus": "Succeeded"}
    described = {"ClusterName": "c", "ClusterArn": "arn:cluster/x", "ClusterStatus": "InService", kind: [shown]}
    (group,) = cluster_of(described, {}, None).groups
    assert unknown(group.specification, UPDATE.members[kind].member, kind) == []


def test_a_shared_environment_is_read_back_as_requested() -> None:
    shared = {"DesiredFSxLustreConfig": {"SizeInGiB": 1}, "CurrentFSxLustreConfig": {"SizeInGiB": 2}}
    described = {"ClusterName": "c", "ClusterArn": "arn:cluster/x", "ClusterStatus": "InService"}
    cluster = cluster_of({**described, "RestrictedInstanceGroupsConfig": {"SharedEnvironmentConfig": shared}}, {}, None)
    asked = {"SharedEnvironmentConfig": {"FSxLustreConfig": {"SizeInGiB": 1}}}
    assert cluster.settings["RestrictedInstanceGroupsConfig"] == asked
