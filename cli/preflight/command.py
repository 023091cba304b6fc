"""`./hpod preflight`: what the account would refuse of a cluster file, asked without changing anything."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from cli.cluster_files import checked
from cli.errors import OpsError
from cli.preflight.account import Account, session_for
from cli.preflight.checks import CHECKS
from cli.preflight.finding import Finding, Outcome, error, warning
from cli.preflight.render import as_json, counted, lines
from cli.preflight.runner import code_of, findings
from cli.remedies import explained
from config.errors import placed
from validation.checked_file import CheckedFile
from validation.load import usable
from validation.report import FORMATS
from validation.report import counted as problems_counted

NOT_OPTED_IN = ("InvalidClientTokenId", "UnrecognizedClientException")


def preflight(*, clusters: Path, cluster: str, format: str, strict: bool, session: Any = None) -> Iterator[str]:
    """What there is to say; then an OpsError that counts, if there are errors. A file with problems is not asked about."""
    [file] = checked(clusters, [cluster])
    if file.errors:
        yield FORMATS[format]([file])
        raise OpsError(f"{problems_counted([file])}; nothing was asked of AWS: correct the file first")
    [config] = usable([file])
    found: list[Finding] = []
    try:
        for each in _found(file, Account(config, session or session_for(config))):
            found.append(each)
            if format == "text":
                yield from lines([each])
    except (ClientError, BotoCoreError, OSError, OpsError) as failure:
        said = _told(failure, config.region)
        if format == "json":
            what, _, remedy = said.partition("; ")
            yield as_json(config.name, [*found, error(what, remedy).by("asking")])
        raise OpsError(said) from failure
    if format == "json":
        yield as_json(config.name, found)
    _refuse(found, config.name, strict=strict)
    if format == "text":
        yield counted(found)


def _refuse(found: list[Finding], cluster: str, *, strict: bool) -> None:
    """Count what was found, in an OpsError, if that is not well."""
    outcomes = {each.outcome for each in found}
    if Outcome.ERROR in outcomes:
        raise OpsError(f"{counted(found)}: cluster {cluster} would not come up")
    if strict and Outcome.WARNING in outcomes:
        raise OpsError(f"{counted(found)}, and --strict takes warnings for errors")


def _told(failure: Exception, region: str | None) -> str:
    """Why nothing, or nothing more, can be asked."""
    return str(failure) if isinstance(failure, OpsError) else explained("preflight", failure) + _of_region(failure, region)


def _of_region(failure: Exception, region: str | None) -> str:
    """What credentials that are well elsewhere are refused for: https://docs.aws.amazon.com/accounts/latest/reference/manage-acct-regions.html."""
    code = code_of(failure) if isinstance(failure, ClientError) else ""
    return f"; or opt in to {region or 'the region'}, if the account has not" if code in NOT_OPTED_IN else ""


def _found(file: CheckedFile, account: Account) -> Iterator[Finding]:
    """What the file's own warnings say, and then what the account does."""
    _ = account.region, account.identity  # where, and who asks: without these there is nothing to ask
    yield from (warning(f"{placed(file.name, each)}: {each}").by("file") for each in file.warnings)
    yield from findings(account, CHECKS)
