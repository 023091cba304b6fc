"""Describe a YAML parser's error, and parse single lines."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from config.errors import Place

LONGEST = 1000
"""How much of a line is searched for the cause of an error: the search may take the square of it."""


@dataclass(frozen=True)
class ParseError:
    """A YAML parser's error; lines and columns start at 0."""

    problem: str
    context: str
    place: tuple[int, int]
    # The start of the construct that the parser was in.
    start: tuple[int, int] | None
    lines: tuple[str, ...]

    def line(self, number: int) -> str:
        """Return the line, or an empty text after the last one."""
        return self.lines[number][:LONGEST] if 0 <= number < len(self.lines) else ""

    def before(self, number: int) -> Iterator[int]:
        """Yield the numbers of the non-empty lines above, from the bottom."""
        return (each for each in range(min(number, len(self.lines)) - 1, -1, -1) if content_of(self.lines[each]))


@dataclass(frozen=True)
class Cause:
    """The actual mistake; line and column start at 0."""

    line: int
    column: int
    message: str
    fix: str

    @property
    def place(self) -> Place:
        """Return the place, counted from 1."""
        return Place(self.line + 1, self.column + 1)


Detector = Callable[[ParseError], Cause | None]


def content_of(line: str) -> str:
    """Return the line without its comment."""
    return re.sub(r"(^|\s)#.*", "", line).strip()


def indent_of(line: str) -> int:
    """Return the number of leading spaces."""
    return len(line) - len(line.lstrip(" "))


def column_of(line: str) -> int:
    """Return the column of the text after any minus."""
    found = re.match(r" *(- +)*", line)
    return found.end() if found else 0
