"""What a check has to say."""

from dataclasses import dataclass, replace
from enum import StrEnum


class Outcome(StrEnum):
    """How a check ended."""

    OK = "ok"
    WARNING = "warning"
    ERROR = "error"
    NOT_ASKED = "not asked"


@dataclass(frozen=True)
class Finding:
    """One line of a preflight: what was asked for and what there is, what to do about it, and where."""

    outcome: Outcome
    said: str
    remedy: str = ""
    link: str = ""
    check: str = ""

    def by(self, check: str) -> "Finding":
        """The same, as the check of this name has it."""
        return replace(self, check=check)


def ok(said: str) -> Finding:
    """All is well."""
    return Finding(Outcome.OK, said)


def warning(said: str, remedy: str = "", link: str = "") -> Finding:
    """A deployment may succeed all the same."""
    return Finding(Outcome.WARNING, said, remedy, link)


def error(said: str, remedy: str, link: str = "") -> Finding:
    """A deployment would fail, or do what nobody wants."""
    return Finding(Outcome.ERROR, said, remedy, link)


def not_asked(said: str) -> Finding:
    """The file has nothing that would need it."""
    return Finding(Outcome.NOT_ASKED, said)
