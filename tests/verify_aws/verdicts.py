"""The seven checks' verdicts, and what they mean for the exit status."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """The result of a check."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_REACHED = "not reached"


@dataclass(frozen=True)
class CheckResult:
    """A check with its verdict, and what was seen."""

    number: int
    title: str
    verdict: Verdict
    seen: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Leftover:
    """A resource that the teardown left, and the command that removes it."""

    kind: str
    name: str
    command: str


@dataclass(frozen=True)
class Report:
    """The results of a run, and what is left in the account."""

    checks: tuple[CheckResult, ...]
    leftovers: tuple[Leftover, ...]
    interrupted: str = ""

    @property
    def is_good(self) -> bool:
        """Return whether all checks passed and nothing is left."""
        return passed(self.checks) and not self.leftovers and not self.interrupted


def passed(checks: Sequence[CheckResult]) -> bool:
    """Return whether all of the checks passed."""
    return all(check.verdict is Verdict.PASSED for check in checks)
