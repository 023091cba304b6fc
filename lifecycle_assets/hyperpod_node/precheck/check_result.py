"""The result of a check."""

from __future__ import annotations

from dataclasses import dataclass

PASS, FAIL, SKIP = "PASS", "FAIL", "SKIP"


@dataclass(frozen=True)
class CheckResult:
    """PASS, FAIL or SKIP with a message, and the fix for a FAIL."""

    state: str
    message: str
    fix: str = ""


def passed(message: str) -> CheckResult:
    """Return the result of a check that passed."""
    return CheckResult(PASS, message)


def failed(message: str, fix: str) -> CheckResult:
    """Return the result of a check that failed."""
    return CheckResult(FAIL, message, fix)


def skipped(reason: str) -> CheckResult:
    """Return the result of a check that does not apply to this node."""
    return CheckResult(SKIP, reason)


def restart(unit: str, state: str) -> str:
    """Return the fix for a ``unit`` in ``state``: the commands that start it."""
    return f"{f'sudo systemctl unmask {unit}; ' if state == 'masked' else ''}sudo systemctl restart {unit}"
