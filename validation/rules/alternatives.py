"""Rules about what is asked for twice, or in two ways of which one is taken."""

from collections.abc import Iterator

from cluster_request.request import FIELDS_OF_A_GROUP
from config.errors import Level, Problem
from config.model import ClusterConfig
from validation.entries import numbered
from validation.rules.registry import rule
from validation.rules.verbatim import member

ALWAYS_GIVEN = ("InstanceGroupName", "InstanceCount")


@rule("field-or-override", "instance_groups[]", level=Level.WARNING)
def field_or_override(config: ClusterConfig) -> Iterator[Problem]:
    """A group's `overrides` do not replace what one of its fields in the file says.

    The override wins: whoever reads the field believes something else, and addresses, waits and checks may be reckoned from it.
    """
    for index, group in numbered(config.instance_groups):
        for name, field in FIELDS_OF_A_GROUP.items():
            is_given = name not in ALWAYS_GIVEN and field in group.model_fields_set
            if is_given and group.overrides.get(name) is not None:
                message = f"replaces `{field}: {_short(getattr(group, field))}` of the same group; keep one of the two"
                yield Problem(("instance_groups", index, "overrides", name), group.overrides[name], message)


@rule("one-way-to-name-types", "instance_groups[]")
def one_way_to_name_types(config: ClusterConfig) -> Iterator[Problem]:
    """A group has `InstanceRequirements` or an InstanceType, which `overrides: {InstanceType: null}` leaves out.

    HyperPod refuses the two together, after network and storage are made.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupSpecification.html
    for index, group in numbered(config.instance_groups):
        is_left_out = "InstanceType" in group.overrides and group.overrides["InstanceType"] is None
        if group.overrides.get("InstanceRequirements") is not None and not is_left_out:
            path = ("instance_groups", index, "overrides", "InstanceRequirements")
            message = "HyperPod takes no InstanceType beside it; add `InstanceType: null` to these overrides"
            yield Problem(path, group.overrides["InstanceRequirements"], message)


@rule("one-lifecycle-script", "instance_groups[]")
def one_lifecycle_script(config: ClusterConfig) -> Iterator[Problem]:
    """A group starts one script: `OnCreate`, or `OnInitComplete` with `OnCreate: null`.

    HyperPod refuses the two together, after network and storage are made.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterLifeCycleConfig.html
    for index, group in numbered(config.instance_groups):
        scripts = member(group.overrides, "LifeCycleConfig")
        later = member(scripts, "OnInitComplete")
        is_left_out = isinstance(scripts, dict) and "OnCreate" in scripts and scripts["OnCreate"] is None
        if later is not None and not is_left_out:
            path = ("instance_groups", index, "overrides", "LifeCycleConfig", "OnInitComplete")
            yield Problem(path, later, "HyperPod starts this or OnCreate; add `OnCreate: null` beside it, or remove it")


@rule("one-image", "instance_groups[]", level=Level.WARNING)
def one_image(config: ClusterConfig) -> Iterator[Problem]:
    """A group names its image by `ImageId` or by `ImageReleaseVersion`.

    The one can be any image, the other is a release of HyperPod's own: which of the two nodes get is not documented.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupSpecification.html
    for index, group in numbered(config.instance_groups):
        image, release = (group.overrides.get(name) for name in ("ImageId", "ImageReleaseVersion"))
        if image is not None and release is not None:
            path = ("instance_groups", index, "overrides", "ImageReleaseVersion")
            yield Problem(path, release, f"names another image than `ImageId: {image}`; keep one of the two")


def _short(value: object) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)
