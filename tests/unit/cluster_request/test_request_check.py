from pathlib import Path
from typing import Any

import pytest
import regex

from cluster_request.request_check import check_request
from cluster_request.request_forms import FORMS
from cluster_request.service_model import input_shape, shape
from config.errors import dotted

GROUP = {"InstanceGroupName": "g", "InstanceCount": 1, "ExecutionRole": "arn:aws:iam::123456789012:role/r"}


def said(request: Any, operation: str = "CreateCluster") -> list[str]:
    return [str(problem) for problem in check_request(request, operation)]


def of_group(**members: object) -> list[str]:
    return said({"ClusterName": "c", "InstanceGroups": [GROUP | members]})


def patterned(name: str) -> dict[str, str]:
    """Return the patterns of all texts in the shape, by shape name."""
    model = shape(name)
    below = [model.get(key, {}).get("shape") for key in ("member", "key", "value")]
    below += [member["shape"] for member in model.get("members", {}).values()]
    found = {name: model["pattern"]} if "pattern" in model else {}
    return found | {key: value for each in below if each for key, value in patterned(each).items()}


def test_every_pattern_of_the_request_has_a_description_and_a_matching_example() -> None:
    patterns = patterned(input_shape("CreateCluster"))
    assert FORMS.keys() == patterns.keys()
    assert [name for name, pattern in patterns.items() if not regex.fullmatch(pattern, FORMS[name].example)] == []


def test_a_good_request_has_no_problems() -> None:
    assert of_group() == []


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"InstanceCount": "4"}, 'InstanceCount: "4": must be a whole number; write 4, without quotes'),
        ({"InstanceCount": True}, "InstanceCount: true: must be a whole number; correct the value"),
        ({"InstanceCount": 6759}, "InstanceCount: 6759: too large; use 0 to 6758"),
        ({"InstanceCount": -1}, "InstanceCount: -1: too small; use 0 to 6758"),
        (
            {"InstanceGroupName": "a b"},
            'InstanceGroupName: "a b": must be letters, digits or hyphens, and start and end with a letter or digit; '
            "did you mean a-b?",
        ),
        ({"ImageId": "latest"}, 'ImageId: "latest": must be an image id, or `default`; use e.g. ami-0123456789abcdef0'),
        ({"LifeCycleConfig": {"SourceS3Uri": 1}}, "LifeCycleConfig.SourceS3Uri: 1: must be text; quote it"),
        ({"InstanceStorageConfigs": {"a": 1}}, 'InstanceStorageConfigs: {"a": 1}: must be a list; start each entry with a minus'),
        ({"InstanceGroupName": 7}, "InstanceGroupName: 7: must be text; quote it"),
        (
            {"LifeCycleConfig": []},
            "LifeCycleConfig: []: must be a mapping; the members are SourceS3Uri, OnCreate, OnInitComplete",
        ),
        (
            {"CapacityRequirements": {"Spot": {"x": 1}}},
            "CapacityRequirements.Spot.x: 1: unknown member of ClusterSpotOptions; remove it",
        ),
        (
            {"InstanceStorageConfigs": [{}]},
            "InstanceStorageConfigs[0]: {}: ClusterInstanceStorageConfig requires exactly one of ",
        ),
        ({"OnStartDeepHealthChecks": []}, "OnStartDeepHealthChecks: []: too few entries; use 1 to 3 entries"),
        ({"KubernetesConfig": {"Labels": {"a b": "c"}}}, 'KubernetesConfig.Labels["a b"]: "a b": must be a Kubernetes label key'),
    ],
)
def test_invalid_members_are_reported_with_their_path(members: dict[str, object], expected: str) -> None:
    assert any(line.startswith(f"InstanceGroups[0].{expected}") for line in of_group(**members)), of_group(**members)


def test_missing_members_are_named() -> None:
    assert said({"InstanceGroups": [{}]}) == [
        "InstanceGroups[0].InstanceCount: required by ClusterInstanceGroupSpecification; add it",
        "InstanceGroups[0].InstanceGroupName: required by ClusterInstanceGroupSpecification; add it",
        "InstanceGroups[0].ExecutionRole: required by ClusterInstanceGroupSpecification; add it",
        "ClusterName: required by CreateClusterRequest; add it",
    ]


def test_a_pattern_must_match_the_whole_value() -> None:
    assert len(of_group(ImageId="ami-0123456789 x")) == 1
    assert of_group(ImageId="ami-0123456789") == []


def test_tag_values_take_letters_of_every_language() -> None:
    assert said({"ClusterName": "c", "Tags": [{"Key": "Büro", "Value": "東京"}]}) == []


def test_empty_structures_are_accepted() -> None:
    assert of_group(CapacityRequirements={"Spot": {}}) == []


@pytest.mark.parametrize(
    ("time", "good"), [("2026-01-31T12:00:00Z", True), (1769860800, True), ("tomorrow", False), (True, False)]
)
def test_times_are_iso_text_or_seconds(time: object, *, good: bool) -> None:
    lines = of_group(AutoPatchConfig={"PatchingStrategy": "WhenIdle", "PatchSchedule": {"NextPatchDate": time}})
    assert (lines == []) is good


def test_other_operations_are_walked_too() -> None:
    assert said({"ClusterName": "c", "InstanceGroupsToDelete": ["-"]}, "UpdateCluster")[0].startswith(
        'InstanceGroupsToDelete[0]: "-": must be letters'
    )


def leaves(name: str, path: tuple[str | int, ...] = ()) -> dict[str, str]:
    """Yield every leaf of the shape with its type, including empty structures."""
    model = shape(name)
    if model["type"] == "list":
        return leaves(model["member"]["shape"], (*path, 0))
    if model["type"] == "map":
        return leaves(model["value"]["shape"], (*path, "key"))
    if model["type"] == "structure" and model["members"]:
        return {
            leaf: kind for member, to in model["members"].items() for leaf, kind in leaves(to["shape"], (*path, member)).items()
        }
    return {dotted(path): model["type"]}


def test_each_leaf_of_create_cluster_is_checked_for_its_type(tmp_path: Path) -> None:
    """A value of no type (an opaque object) is a problem at every leaf of the request."""
    found = leaves(input_shape("CreateCluster"))
    request = whole(input_shape("CreateCluster"), object())
    assert {dotted(problem.path) for problem in check_request(request) if "must be" in problem.message} >= found.keys()


def whole(name: str, leaf: object) -> Any:
    """Return a request with every member, and ``leaf`` at each end."""
    model = shape(name)
    if model["type"] == "list":
        return [whole(model["member"]["shape"], leaf)]
    if model["type"] == "map":
        return {"key": whole(model["value"]["shape"], leaf)}
    if model["type"] == "structure" and model["members"]:
        return {member: whole(to["shape"], leaf) for member, to in model["members"].items()}
    return leaf
