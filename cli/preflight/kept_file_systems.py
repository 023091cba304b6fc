"""Check that a deployment after `cdk destroy` does not create a second, empty file system by mistake."""

from collections.abc import Iterator

from cli import leftovers
from cli.preflight.account import Account
from cli.preflight.check import CheckResult, ok, skipped, warning


def kept_file_systems(account: Account) -> Iterator[CheckResult]:
    """Warn about file systems that an earlier deployment of this cluster left, if the file creates a new one."""
    config = account.config
    if not config.storage.created_file_systems:
        yield skipped("the deployment creates no file system")
        return
    if "Storage" in account.stacks:
        yield skipped("the file system is deployed")
        return
    kept = leftovers.file_systems(account.client("fsx"), config.name)
    if not kept:
        yield ok("no file system of an earlier deployment")
    for each in kept:
        message = f"an earlier deployment left {leftovers.described(each)}; this one creates a new, empty file system"
        yield warning(message, f"`{account.hpod('retained')}` prints the sections that use it again; otherwise delete it")
