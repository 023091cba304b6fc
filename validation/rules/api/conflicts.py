"""Check for members of a request that exclude each other."""

from collections.abc import Iterator

from cluster_request.effective_request import EffectiveRequest
from config.errors import Level, Problem
from validation.rules.registry import request_rule


@request_rule("instance-type-conflict", "instance_groups[]")
def instance_type_conflict(request: EffectiveRequest) -> Iterator[Problem]:
    """A group with `InstanceRequirements` must set `overrides: {InstanceType: null}`.

    HyperPod rejects both together, after network and storage are created.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupSpecification.html
    for group in request.groups:
        requirements = group.member("InstanceRequirements")
        if requirements.is_given and group.member("InstanceType").is_given:
            yield requirements.problem("cannot be combined with an instance type", "add `InstanceType: null` to these overrides")


@request_rule("lifecycle-script-conflict", "instance_groups[]")
def lifecycle_script_conflict(request: EffectiveRequest) -> Iterator[Problem]:
    """A group must have only one lifecycle script, `OnCreate` or `OnInitComplete`; the other must be null or missing.

    HyperPod rejects both together, after network and storage are created.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterLifeCycleConfig.html
    for group in request.groups:
        scripts = [group.member("LifeCycleConfig", name) for name in ("OnInitComplete", "OnCreate")]
        if all(each.is_given for each in scripts):
            given, other = sorted(scripts, key=lambda each: not each.is_overridden)
            name = other.names[-1]
            yield given.problem(f"cannot be combined with {name}", f"add `{name}: null` here, or remove this field")


@request_rule("image-conflict", "instance_groups[]", level=Level.WARNING)
def image_conflict(request: EffectiveRequest) -> Iterator[Problem]:
    """A group must set only one of `image_id` and `ImageReleaseVersion`.

    It is not documented which of the two HyperPod uses.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterInstanceGroupSpecification.html
    for group in request.groups:
        image, release = group.member("ImageId"), group.member("ImageReleaseVersion")
        if image.is_given and release.is_given:
            yield release.problem(f"conflicts with image {image.value}", "keep only one")
