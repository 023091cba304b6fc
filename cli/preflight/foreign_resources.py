"""Check that others put nothing into the deployment's VPC that blocks `cdk destroy`."""

from collections.abc import Iterator

from cli.leftovers import foreign
from cli.preflight.account import Account
from cli.preflight.check_result import CheckResult, ok, skipped, warning


def foreign_resources(account: Account) -> Iterator[CheckResult]:
    """Warn about each resource of others in a VPC that the deployment created."""
    if account.config.network.existing or "Network" not in account.stacks:
        yield skipped("the deployment has no VPC of its own")
        return
    found = [each.sentence for each in foreign(account.client("ec2"), account.config.name)]
    yield from (warning(each, "delete it before `cdk destroy`, which does not") for each in found)
    if not found:
        yield ok("the VPC has no resources of others")
