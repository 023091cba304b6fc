"""Check for members of a group that exclude or limit each other."""

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


@request_rule("patching-strategy", "instance_groups[]", level=Level.WARNING)
def patching_strategy(request: EffectiveRequest) -> Iterator[Problem]:
    """`IdleWaitWindowInSeconds` requires a patching strategy that waits for idle nodes, and percentages must not exceed 100.

    Otherwise patches are installed while jobs run, or never.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ClusterAutoPatchConfig.html
    for group in request.groups:
        patching = group.member("AutoPatchConfig")
        window = patching.member("IdleWaitWindowInSeconds")
        if window.number is not None and patching.member("PatchingStrategy").text == "DrainFirst":
            yield window.problem("has no effect with `DrainFirst`", "remove it, or use WhenIdle or WhenAllIdle")
        for section in ("AutoPatchConfig", "ScheduledUpdateConfig"):
            for batch in ("MaximumBatchSize", "RollbackMaximumBatchSize"):
                size = group.member(section, "DeploymentConfig", "RollingUpdatePolicy", batch)
                share = size.member("Value")
                if (share.number or 0) > 100 and size.member("Type").text == "CAPACITY_PERCENTAGE":
                    yield share.problem("exceeds 100 percent", "use 1 to 100, or `Type: INSTANCE_COUNT`")
