"""Check how HyperPod patches nodes."""

from collections.abc import Iterator

from cluster_request.effective_request import EffectiveRequest
from config.errors import Level, Problem
from validation.rules.registry import request_rule


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
