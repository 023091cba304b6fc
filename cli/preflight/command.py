"""`./hpod preflight`: check that the account can run the cluster of a file, without changing anything."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from cli.access import ENVIRONMENT, Access, compare_account
from cli.aws_errors import explained
from cli.cluster_files import checked, cluster_path
from cli.counted import counted
from cli.errors import CommandError
from cli.preflight.account import Account, session_for
from cli.preflight.check import CheckResult, Outcome, code_of, error, run_checks, warning
from cli.preflight.checks import CHECKS
from cli.result import Json, Result, Show, ignore
from config.errors import placed
from validation import report
from validation.checked_file import CheckedFile, with_charts
from validation.load import usable

NOT_OPTED_IN = ("InvalidClientTokenId", "UnrecognizedClientException")
WIDTH = max(len(outcome) for outcome in Outcome)


def preflight(
    *,
    clusters: Path,
    cluster: str,
    strict: bool = False,
    show_all: bool = False,
    access: Access = ENVIRONMENT,
    show: Show = ignore,
    session: Any = None,
) -> Result:
    """Show each problem as it comes (all results with ``show_all``), and return all; a file with errors is not checked."""
    [file] = with_charts(checked(clusters, [cluster]))
    if file.errors:
        failure = f"{report.counted([file])}; correct the file first, AWS was not asked"
        return Result(None, (report.text([file]),), report.problems([file]), failure)
    [config] = usable([file])
    results: list[CheckResult] = []
    folder = cluster_path(cluster, clusters).parent
    try:
        for each in _results(file, Account(config, session or session_for(config, access), folder)):
            results.append(each)
            if show_all or each.is_problem or each.outcome is Outcome.CHANGE:
                show(_lines(each))
    except (ClientError, BotoCoreError, OSError, CommandError) as exception:
        if isinstance(exception, BrokenPipeError):
            raise
        reason = _explained(exception, config.region)
        results.append(error(reason.message, reason.fix).by("access"))
        return Result(_as_data(config.name, results), (), _as_problems(results), str(reason))
    failure = _failure(results, config.name, strict=strict)
    return Result(_as_data(config.name, results), () if failure else (_summary(results),), _as_problems(results), failure)


def _failure(results: list[CheckResult], cluster: str, *, strict: bool) -> str:
    """Return why the results fail the preflight; empty if they do not."""
    outcomes = {each.outcome for each in results}
    if Outcome.ERROR in outcomes:
        return f"{_summary(results)}: cluster {cluster} cannot be deployed"
    if strict and Outcome.WARNING in outcomes:
        return f"{_summary(results)}: --strict treats warnings as errors"
    return ""


def _explained(exception: Exception, region: str | None) -> CommandError:
    """Return why AWS cannot be asked, or not any more."""
    if isinstance(exception, CommandError):
        return exception
    error = explained("preflight", exception)
    return CommandError(error.message, error.fix + _opt_in(exception, region))


def _opt_in(exception: Exception, region: str | None) -> str:
    """Return the other reason for which valid credentials are refused: a region that the account has not enabled.

    https://docs.aws.amazon.com/accounts/latest/reference/manage-acct-regions.html
    """
    code = code_of(exception) if isinstance(exception, ClientError) else ""
    return f"; or opt in to {region or 'the region'}, if the account has not" if code in NOT_OPTED_IN else ""


def _results(file: CheckedFile, account: Account) -> Iterator[CheckResult]:
    """Yield the file's own warnings, then the results of the checks."""
    _ = account.region, account.identity  # without these there is nothing to ask
    compare_account(account.config, file.name, account.id)
    yield from (warning(f"{placed(file.name, each)}: {each}").by("file") for each in file.warnings)
    yield from run_checks(account, CHECKS)


def _lines(result: CheckResult) -> str:
    """Return the result, and below it the fix and the link, if it has them."""
    more = (f"{'':<{WIDTH}}    {text}" for text in (result.fix, result.link) if text)
    return "\n".join((f"{result.outcome.value:<{WIDTH}}  {result.check}: {result.message}", *more))


def _summary(results: Sequence[CheckResult]) -> str:
    """Return the number of each outcome: ``2 errors, 1 warning, 20 ok, 3 skipped``."""
    counts = Counter(each.outcome for each in results)
    parts = (counted(counts[Outcome.ERROR], "error"), counted(counts[Outcome.WARNING], "warning"))
    return ", ".join([*parts, f"{counts[Outcome.OK]} ok", f"{counts[Outcome.SKIPPED]} skipped"])


def _as_data(cluster: str, results: Sequence[CheckResult]) -> Json:
    """Return the number of each outcome, and every result."""
    counts = {outcome.value: sum(each.outcome is outcome for each in results) for outcome in Outcome}
    return {"cluster": cluster, "counts": counts, "checks": [_fields(each) for each in results]}


def _as_problems(results: Sequence[CheckResult]) -> list[Json]:
    """Return the errors and warnings."""
    found = (each for each in results if each.is_problem)
    return [
        {"level": each.outcome.value, "message": each.message, "fix": each.fix or None, "check": each.check} for each in found
    ]


def _fields(result: CheckResult) -> Json:
    return {
        "name": result.check,
        "result": result.outcome.value,
        "message": result.message,
        "fix": result.fix or None,
        "link": result.link or None,
    }
