"""A problem in an sbatch script."""

from __future__ import annotations

from dataclasses import dataclass

ERROR, WARNING = "error", "warning"


@dataclass(frozen=True)
class Problem:
    """A problem in one line, and its fix."""

    line: int
    level: str
    message: str
    fix: str


def error(line: int, message: str, fix: str) -> Problem:
    """Return a problem for which Slurm rejects the job, or the job fails."""
    return Problem(line, ERROR, message, fix)


def warning(line: int, message: str, fix: str) -> Problem:
    """Return a problem with which the job runs, but may lose work."""
    return Problem(line, WARNING, message, fix)
