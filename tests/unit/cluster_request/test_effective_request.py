"""Members of the effective request: their values, and their places in the file."""

from typing import Any

import pytest

from cluster_request.effective_request import EffectiveRequest, Member
from cluster_request.request_fields import in_file
from config.errors import ABSENT, Path

ROLE = "arn:aws:iam::123456789012:role/theirs"
WORK = ("instance_groups", 2)


@pytest.mark.parametrize(
    ("given", "member", "value", "path"),
    [
        ({}, "InstanceType", "ml.p5.48xlarge", (*WORK, "instance_type")),
        ({"overrides": {"InstanceType": "ml.g5.xlarge"}}, "InstanceType", "ml.g5.xlarge", (*WORK, "overrides", "InstanceType")),
        ({"overrides": {"InstanceType": None}}, "InstanceType", None, (*WORK, "overrides", "InstanceType")),
        ({"image_id": "default"}, "ImageId", "default", (*WORK, "image_id")),
        ({}, "ImageId", None, (*WORK, "image_id")),
        ({}, "ImageReleaseVersion", None, (*WORK, "overrides", "ImageReleaseVersion")),
    ],
)
def test_a_member_has_the_value_and_the_place_that_set_it(
    draft: Any, given: dict[str, Any], member: str, value: object, path: Path
) -> None:
    for name, field in given.items():
        draft.set(*WORK, name, field)
    found = EffectiveRequest(draft.config()).groups[2].member(member)
    assert (found.value, found.path) == (value, path)
    assert found.is_overridden == (member in given.get("overrides", {}))
    assert found.problem("wrong").value == (ABSENT if value is None else value)


@pytest.mark.parametrize(
    ("given", "is_set"),
    [
        ({}, False),
        ({"execution_role": ROLE}, True),
        ({"overrides": {"ExecutionRole": ROLE}}, True),
    ],
)
def test_a_group_sets_a_member_by_a_field_or_an_override(draft: Any, given: dict[str, Any], is_set: bool) -> None:
    draft.set("slurm", {"metadata_access": "all"})
    for name, field in given.items():
        draft.set(*WORK, name, field)
    assert EffectiveRequest(draft.config()).groups[2].sets("ExecutionRole") is is_set


def test_members_of_several_sections_are_found_in_the_file(draft: Any) -> None:
    draft.set("tags", {"team": "speech"}).set(*WORK, "volume_gib", 500).set(*WORK, "deep_health_checks", ["InstanceStress"])
    config = draft.config()
    volume: Path = ("InstanceStorageConfigs", 0, "EbsVolumeConfig", "VolumeSizeInGB")
    assert in_file(config, ("Tags", 0, "Value")) == ("tags", "team")
    assert in_file(config, ("InstanceGroups", 2, *volume)) == (*WORK, "volume_gib")
    assert in_file(config, ("InstanceGroups", 2, "InstanceStorageConfigs", 0)) == (*WORK, "volume_gib")
    assert in_file(config, ("InstanceGroups", 2, "OnStartDeepHealthChecks", 1)) == (*WORK, "deep_health_checks", 1)
    assert in_file(config, ("InstanceGroups", 2, "LifeCycleConfig", "OnCreate")) == ("lifecycle", "on_create")
    assert in_file(config, ("InstanceGroups", 2)) == WORK
    assert in_file(config, ("InstanceGroups",)) == ("instance_groups",)
    assert in_file(config, ("NodeRecovery",)) == ("node_recovery",)
    assert in_file(config, ("Orchestrator", "Eks")) == ("overrides", "Orchestrator", "Eks")


def test_an_entry_of_an_overridden_list_is_in_the_overrides(draft: Any) -> None:
    volumes = [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}, {"EbsVolumeConfig": {"VolumeSizeInGB": 20}}]
    request = EffectiveRequest(draft.set(*WORK, "overrides", {"InstanceStorageConfigs": volumes}).config())
    sizes = [each.member("EbsVolumeConfig", "VolumeSizeInGB") for each in request.groups[2].entries("InstanceStorageConfigs")]
    assert [each.number for each in sizes] == [500, 20]
    assert sizes[1].path == (*WORK, "overrides", "InstanceStorageConfigs", 1, "EbsVolumeConfig", "VolumeSizeInGB")


def test_values_of_another_shape_are_treated_as_missing(draft: Any) -> None:
    request = Member({"CapacityRequirements": "Spot", "MinInstanceCount": True}, (), draft.config())
    spot = request.member("CapacityRequirements", "Spot")
    assert (spot.is_given, spot.text, request.member("MinInstanceCount").number) == (False, "", None)
    assert not list(request.entries("CapacityRequirements"))
