"""`./hpod continue-rollback CLUSTER`: continue a rollback that CloudFormation stopped."""

from cli.confirm import Confirm, without_asking
from cli.deployment import Deployment, Stack
from cli.errors import CommandError
from cli.result import Result

STUCK = "UPDATE_ROLLBACK_FAILED"


def continue_rollback(deployment: Deployment, *, skip: bool = False, confirm: Confirm = without_asking) -> Result:
    """Continue every rollback that failed, and return what CloudFormation will do."""
    stuck = [stack for stack in deployment.read_stacks() if stack.status == STUCK]
    if not stuck:
        name = deployment.config.name
        raise CommandError(f"no stack of cluster {name!r} is in {STUCK}", f"`{deployment.hpod('status')}` shows their states")
    if not skip:
        _demand_a_quiet_cluster(deployment)
    client = deployment.client("cloudformation")
    skipped = {stack.name: failed_resources(deployment, stack) if skip else [] for stack in stuck}
    for name, failed in skipped.items():
        if failed:
            confirm(f"Skip {', '.join(failed)} of stack {name}, and end the rollback?")
    for name, failed in skipped.items():
        client.continue_update_rollback(StackName=name, **({"ResourcesToSkip": failed} if failed else {}))
    lines = [
        f"continuing the rollback of {name}" + (f" without {', '.join(failed)}" if failed else "")
        for name, failed in skipped.items()
    ]
    lines.append(f"`{deployment.hpod('status')}` shows its progress")
    return Result({"stacks": [{"name": name, "skipped": failed} for name, failed in skipped.items()]}, ("\n".join(lines),))


def rollback_fix(deployment: Deployment, stack: Stack) -> str:
    """Return the fix for a stack whose rollback failed, with its command."""
    failed = failed_resources(deployment, stack)
    command = f"aws cloudformation continue-update-rollback --stack-name {stack.name} --region {deployment.region}"
    lines = [
        f"the rollback of stack {stack.name} failed in {', '.join(failed)}; once the cluster is InService, continue it:",
        f"  {command}",
        "or skip what failed; the next deployment compares the file with the actual cluster:",
        f"  {command} --resources-to-skip {' '.join(failed)}",
        f"`{deployment.hpod('continue-rollback', '[--skip]')}` does the same",
    ]
    return "\n".join(lines)


def failed_resources(deployment: Deployment, stack: Stack) -> list[str]:
    """Return the logical ids of resources whose rollback failed; only those can be skipped."""
    return sorted(
        each["LogicalResourceId"]
        for each in deployment.resources(stack.name.rpartition("-")[2])
        if each["ResourceStatus"] == "UPDATE_FAILED"
    )


def _demand_a_quiet_cluster(deployment: Deployment) -> None:
    """Raise a CommandError if the cluster is busy: the rollback would wait, and could time out again."""
    if "ClusterName" not in deployment.outputs():
        return
    cluster = deployment.cluster()
    if cluster["ClusterStatus"] not in ("InService", "Failed"):
        raise CommandError(
            f"cluster {cluster['ClusterName']} is {cluster['ClusterStatus']}: continue once it is InService, or pass `--skip`"
        )
