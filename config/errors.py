"""Represent and print problems in cluster files."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from config.printable import printable
from config.secret_values import without_secrets

Path = tuple[str | int, ...]

MAX_VALUE_LENGTH = 80


class Absent:
    """The type of ABSENT."""


ABSENT = Absent()


class Level(StrEnum):
    """The severity of a problem; errors prevent the deployment."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, order=True)
class Place:
    """A position in a file; line and column start at 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


@dataclass(frozen=True)
class Problem:
    """A problem with a value: its path, what is wrong, the fix and the rule (validation/catalog.py)."""

    path: Path
    value: object
    message: str
    fix: str = ""
    rule: str = ""
    level: Level = Level.ERROR
    # None for the whole file, or an unreadable one.
    place: Place | None = None
    # The file's reason to suppress this warning.
    suppressed: str | None = None

    def __str__(self) -> str:
        where = f"{dotted(self.path)}: " if self.path else ""
        value = "" if self.value is ABSENT else f"{shown(self.value, self.path)}: "
        return _printable(f"{where}{value}{self.message}{'; ' if self.fix else ''}{self.fix}")


class ConfigError(Exception):
    """Problems that prevent the use of cluster files, one line each."""

    def __init__(self, problems: Mapping[str, Sequence[Problem]]) -> None:
        self.problems = {file: tuple(found) for file, found in problems.items() if found}
        super().__init__(
            "\n".join(f"{placed(file, problem)}: {problem}" for file, found in self.problems.items() for problem in found)
        )


def placed(file: str, problem: Problem) -> str:
    """Return `file:line:column`, which editors and terminals link."""
    return _printable(f"{file}:{problem.place}" if problem.place else file)


def dotted(path: Path) -> str:
    """Return the path in the file's notation: ``instance_groups[2].overrides.ImageId``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        elif re.fullmatch(r"\w+", part):
            text += f".{part}" if text else part
        else:
            text += f"[{json.dumps(part, ensure_ascii=False)}]"
    return text


def shown(value: object, path: Path = ()) -> str:
    """Return the value as one line of YAML, shortened, with secrets replaced by three dots."""
    text = json.dumps(without_secrets(value, path), ensure_ascii=False, default=str)
    if (secret := text.find("PRIVATE KEY-----")) >= 0:  # output ends up in logs
        text = f"{text[:secret]}PRIVATE KEY-----..."
    return text if len(text) <= MAX_VALUE_LENGTH else f"{text[: MAX_VALUE_LENGTH - 3]}..."


def _printable(text: str) -> str:
    """Return the text without line ends and unprintable characters."""
    return printable(" ".join(text.splitlines()))
