"""Whether the file's stacks are in a state from which CloudFormation goes on."""

from collections.abc import Iterator

from ops.preflight.account import Account
from ops.preflight.finding import Finding, error, not_asked, ok, warning
from ops.rollback import STUCK

# What the CDK's command line deletes and makes anew by itself.
MADE_ANEW = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED", "REVIEW_IN_PROGRESS")


def stacks(account: Account) -> Iterator[Finding]:
    """No stack of the file is at work, or stuck."""
    if not account.stacks:
        yield not_asked("no stack of this file is there yet")
    for stack in account.stacks.values():
        said = f"{stack.name} is {stack.status}{': ' if stack.reason else ''}{stack.reason}"
        look = f"`python -m ops status {account.config.name}`"
        if stack.status == STUCK:
            yield error(said, f"`python -m ops continue-rollback {account.config.name}` goes on with it")
        elif stack.status in MADE_ANEW:
            yield warning(said, f"the CDK deletes it and makes it anew; {look} says why it failed")
        elif stack.status.endswith("_IN_PROGRESS"):
            yield warning(said, f"wait until it is done: {look}")
        elif stack.status == "DELETE_FAILED":
            yield error(said, f"see {look}, mend what kept it, and delete the stack first")
        else:
            yield ok(said)
