"""Check for settings that exclude each other."""

from collections.abc import Iterator

from cluster_request.request import GROUP_FIELDS
from config.errors import Level, Problem
from config.model import ClusterConfig
from validation.entries import numbered
from validation.rules.overrides import member
from validation.rules.registry import rule

ALWAYS_GIVEN = ("InstanceGroupName", "InstanceCount")


@rule("override-replaces-field", "instance_groups[]", level=Level.WARNING)
def override_replaces_field(config: ClusterConfig) -> Iterator[Problem]:
    """A group's `overrides` must not replace a field that the file sets for the same group.

    The override wins, so the field is misleading, and checks that read the field can be wrong.
    """
    for index, group in numbered(config.instance_groups):
        for name, field in GROUP_FIELDS.items():
            is_given = name not in ALWAYS_GIVEN and field in group.model_fields_set
            if is_given and group.overrides.get(name) is not None:
                message = f"overrides `{field}: {_short(getattr(group, field))}` of the same group; keep only one"
                yield Problem(("instance_groups", index, "overrides", name), group.overrides[name], message)


@rule("instance-type-conflict", "instance_groups[]")
def instance_type_conflict(config: ClusterConfig) -> Iterator[Problem]:
    """A group with `InstanceRequirements` must set `overrides: {InstanceType: null}`.

    HyperPod rejects both together, after network and storage are created.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupSpecification.html
    for index, group in numbered(config.instance_groups):
        is_left_out = "InstanceType" in group.overrides and group.overrides["InstanceType"] is None
        if group.overrides.get("InstanceRequirements") is not None and not is_left_out:
            path = ("instance_groups", index, "overrides", "InstanceRequirements")
            message = "cannot be combined with an instance type; add `InstanceType: null` to these overrides"
            yield Problem(path, group.overrides["InstanceRequirements"], message)


@rule("lifecycle-script-conflict", "instance_groups[]")
def lifecycle_script_conflict(config: ClusterConfig) -> Iterator[Problem]:
    """A group must have only one lifecycle script: `OnCreate`, or `OnInitComplete` with `OnCreate: null`.

    HyperPod rejects both together, after network and storage are created.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterLifeCycleConfig.html
    for index, group in numbered(config.instance_groups):
        scripts = member(group.overrides, "LifeCycleConfig")
        later = member(scripts, "OnInitComplete")
        is_left_out = isinstance(scripts, dict) and "OnCreate" in scripts and scripts["OnCreate"] is None
        if later is not None and not is_left_out:
            path = ("instance_groups", index, "overrides", "LifeCycleConfig", "OnInitComplete")
            yield Problem(path, later, "cannot be combined with OnCreate; add `OnCreate: null` here, or remove this field")


@rule("image-conflict", "instance_groups[]", level=Level.WARNING)
def image_conflict(config: ClusterConfig) -> Iterator[Problem]:
    """A group must set only one of `ImageId` and `ImageReleaseVersion`.

    It is not documented which of the two HyperPod uses.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupSpecification.html
    for index, group in numbered(config.instance_groups):
        image, release = (group.overrides.get(name) for name in ("ImageId", "ImageReleaseVersion"))
        if image is not None and release is not None:
            path = ("instance_groups", index, "overrides", "ImageReleaseVersion")
            yield Problem(path, release, f"conflicts with `ImageId: {image}`; keep only one")


def _short(value: object) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)
