"""Check that the file's stacks can be deployed."""

from collections.abc import Callable, Iterator

from cli.deployment import Deployment, Stack
from cli.preflight.account import Account
from cli.preflight.check import CheckResult, error, ok, skipped, warning

# The CDK's command line deletes and recreates these automatically.
MADE_ANEW = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "REVIEW_IN_PROGRESS")
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/stack-failure-options.html: left as they failed.
PAUSED = ("CREATE_FAILED", "UPDATE_FAILED")


def stacks(account: Account) -> Iterator[CheckResult]:
    """Check that no stack of the file is busy or stuck."""
    if not account.stacks:
        yield skipped("no stack of this file exists")
    for stack in account.stacks.values():
        message = f"{stack.name} is {stack.status}{': ' if stack.reason else ''}{stack.reason}"
        make, fix = _judged(stack, account)
        yield make(message, fix) if fix else ok(message)


def _judged(stack: Stack, deployment: Deployment) -> tuple[Callable[[str, str], CheckResult], str]:
    """Return how bad the stack's state is, and its fix; empty if CloudFormation can continue."""
    look = f"`{deployment.hpod('status')}`"
    match stack.status:
        case "UPDATE_ROLLBACK_FAILED":
            return error, f"`{deployment.hpod('continue-rollback')}` continues it"
        case "DELETE_FAILED":
            return error, f"run {look}, fix the reason, and delete the stack"
        case status if status in MADE_ANEW:
            return warning, f"the CDK deletes and recreates it; {look} shows why it failed"
        case status if status in PAUSED:
            return warning, f"`cdk rollback '{stack.name}'` rolls it back, which a deployment also offers; {look} shows why"
        case status if status.endswith("_FAILED"):
            return warning, f"{look} shows why; fix that before you deploy"
    return warning, f"wait until it is done: {look}" if stack.status.endswith("_IN_PROGRESS") else ""
