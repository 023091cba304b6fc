"""The result of a check."""

from dataclasses import dataclass, replace
from enum import StrEnum


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
