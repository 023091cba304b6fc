"""Where a YAML parser stumbles, and what of a line it reads."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from config.errors import Place


@dataclass(frozen=True)
class Stumble:
    """What the parser said and where; lines are counted from 0, as the parser does."""

    said: str
    context: str
    place: tuple[int, int]
    # Where the part began that the parser was in.
    began: tuple[int, int] | None
    lines: tuple[str, ...]

    def line(self, number: int) -> str:
        """The line of this number; an empty one behind the last."""
        return self.lines[number] if 0 <= number < len(self.lines) else ""

    def before(self, number: int) -> Iterator[int]:
        """The numbers of the lines above that say something, the nearest first."""
        return (each for each in range(min(number, len(self.lines)) - 1, -1, -1) if content_of(self.lines[each]))


@dataclass(frozen=True)
class Cause:
    """A mistake: the line and the column where it was made (from 0), what is wrong, and the remedy."""

    line: int
    column: int
    message: str

    @property
    def place(self) -> Place:
        """The place as users count."""
        return Place(self.line + 1, self.column + 1)


Recogniser = Callable[[Stumble], Cause | None]


def content_of(line: str) -> str:
    """What the line says, without its comment."""
    return re.sub(r"(^|\s)#.*", "", line).strip()


def indent_of(line: str) -> int:
    """The number of blanks that the line begins with."""
    return len(line) - len(line.lstrip(" "))


def column_of(line: str) -> int:
    """Where the line's text begins behind its minus."""
    found = re.match(r" *(- +)*", line)
    return found.end() if found else 0
