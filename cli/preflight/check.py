"""Checks and their results: they run in parallel, a denied call is a warning, and rejected credentials end the preflight."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial

from botocore import exceptions as aws
from botocore.exceptions import ClientError
from botocore.parsers import ResponseParserError

from cli.aws_errors import OF_CREDENTIALS, are_refused, not_aws
from cli.preflight.account import Account

AT_ONCE = 12
DENIED = ("AccessDenied", "Unauthorized", "NotAuthorized", "OptInRequired", "AuthorizationError")


class Outcome(StrEnum):
    """The outcome of a check."""

    OK = "ok"
    CHANGE = "change"
    WARNING = "warning"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class CheckResult:
    """One line of a preflight: outcome, message, fix and link."""

    outcome: Outcome
    message: str
    fix: str = ""
    link: str = ""
    check: str = ""

    @property
    def is_problem(self) -> bool:
        """Whether it is an error or a warning."""
        return self.outcome in (Outcome.ERROR, Outcome.WARNING)

    def by(self, check: str) -> "CheckResult":
        """Return the same result with the name of its check."""
        return replace(self, check=check)


def ok(message: str) -> CheckResult:
    """Return that nothing is wrong."""
    return CheckResult(Outcome.OK, message)


def warning(message: str, fix: str = "", link: str = "") -> CheckResult:
    """Return a warning: a deployment may still succeed."""
    return CheckResult(Outcome.WARNING, message, fix, link)


def error(message: str, fix: str, link: str = "") -> CheckResult:
    """Return an error: a deployment would fail, or have an unwanted effect."""
    return CheckResult(Outcome.ERROR, message, fix, link)


def skipped(message: str) -> CheckResult:
    """Return that the file does not need the check."""
    return CheckResult(Outcome.SKIPPED, message)


@dataclass(frozen=True)
class Check:
    """A check with its name."""

    name: str
    ask: Callable[[Account], Iterator[CheckResult]]


def run_checks(account: Account, checks: Iterable[Check]) -> Iterator[CheckResult]:
    """Yield the results of all checks in their order, each as soon as those before it are done."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for each in pool.map(lambda check: list(_asked(account, check)), checks):
            yield from each


def _asked(account: Account, check: Check) -> Iterator[CheckResult]:
    """Yield the check's results, with a warning instead of those that failed."""
    for each in _guarded(account, partial(check.ask, account)):
        yield each.by(check.name)


def together(account: Account, *parts: Iterable[CheckResult], well: str) -> Iterator[CheckResult]:
    """Yield the results of all parts of a check, despite denied calls, or else that nothing is wrong."""
    is_well = True
    for each in one_by_one(account, *parts):
        is_well = False
        yield each
    if is_well:
        yield ok(well)


def one_by_one(account: Account, *parts: Iterable[CheckResult]) -> Iterator[CheckResult]:
    """Yield the results of all parts of a check, despite denied calls; report the same denial once."""
    seen: set[CheckResult] = set()
    for part in parts:
        for each in _guarded(account, partial(iter, part)):
            if each not in seen:
                seen.add(each)
                yield each


def _guarded(account: Account, ask: Callable[[], Iterable[CheckResult]]) -> Iterator[CheckResult]:
    try:
        yield from ask()
    except (ClientError, aws.BotoCoreError, ResponseParserError) as failure:
        if isinstance(failure, OF_CREDENTIALS) or (isinstance(failure, ClientError) and are_refused(failure)):
            raise
        yield _instead(account, failure)


def _instead(account: Account, failure: ClientError | aws.BotoCoreError | ResponseParserError) -> CheckResult:
    """Return the warning for a failed call."""
    match failure:
        case ClientError():
            return not_answered(failure)
        case ResponseParserError():
            return warning(str(not_aws("unreadable answer")))
        case aws.ParamValidationError():
            return warning(f"invalid call: {_on_one_line(failure)}", "correct the name in the file")
        case aws.ConnectionError() | aws.HTTPClientError():
            # STS has answered, so only this service has no endpoint in the region, or no route to it.
            fix = f"check that {account.region} has the service, and that your network allows it"
            return warning(f"no answer: {_on_one_line(failure)}", fix)
    return warning(f"the call failed: {_on_one_line(failure)}", "try again, or check it yourself")


def _on_one_line(failure: Exception) -> str:
    return " ".join(str(failure).split())


def code_of(failure: ClientError) -> str:
    """Return AWS's error code."""
    return str(failure.response.get("Error", {}).get("Code", ""))


def is_denied(failure: ClientError) -> bool:
    """Return whether AWS refused the call because a permission is missing."""
    code = code_of(failure)
    return any(each in code for each in DENIED) or code == "403"


def not_answered(failure: ClientError) -> CheckResult:
    """Return the warning for a call that AWS refused."""
    if is_denied(failure):
        return warning(
            f"no permission to check this: {failure.operation_name} is denied",
            "check it yourself, or use a role with docs/reference/preflight.md's policy",
        )
    message = " ".join(str(failure.response.get("Error", {}).get("Message", failure)).split())
    return warning(f"{failure.operation_name} failed with {code_of(failure)}: {message}", "try again, or check it yourself")
