"""What the check of a script has to say."""

from __future__ import annotations

from dataclasses import dataclass

ERROR, WARNING = "error", "warning"


@dataclass(frozen=True)
class Finding:
    """One thing about one line: what is there, and what to write instead."""

    line: int
    level: str
    found: str
    remedy: str


def error(line: int, found: str, remedy: str) -> Finding:
    """The job is refused, or does not do what it says."""
    return Finding(line, ERROR, found, remedy)


def warning(line: int, found: str, remedy: str) -> Finding:
    """The job runs, and may disappoint."""
    return Finding(line, WARNING, found, remedy)
