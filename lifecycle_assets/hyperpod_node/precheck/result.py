"""What a check found."""

from __future__ import annotations

from dataclasses import dataclass

PASS, FAIL, SKIP = "PASS", "FAIL", "SKIP"


@dataclass(frozen=True)
class Result:
    """PASS, FAIL or SKIP, what was found, and for a FAIL what mends it."""

    state: str
    found: str
    remedy: str = ""


def passed(found: str) -> Result:
    """The check holds."""
    return Result(PASS, found)


def failed(found: str, remedy: str) -> Result:
    """The check does not hold; ``remedy`` mends it."""
    return Result(FAIL, found, remedy)


def skipped(reason: str) -> Result:
    """The check does not concern this node, or cannot be made by this user."""
    return Result(SKIP, reason)
