"""What is wrong with cluster files, in lines that name the file, the field, its value and the remedy."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from config.secret_values import without_secrets

Path = tuple[str | int, ...]

LONGEST_VALUE = 80


class Absent:
    """Stands for the value of a field that the file does not give."""


ABSENT = Absent()


class Level(StrEnum):
    """How bad it is: with an error nothing is deployed."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, order=True)
class Place:
    """Where in a file something begins, both counted from 1, the column in characters."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: where, with which value, what and the remedy, and its rule (validation/catalog.py)."""

    path: Path
    value: object
    message: str
    rule: str = ""
    level: Level = Level.ERROR
    # None is the file as a whole, or one that cannot be read.
    place: Place | None = None
    # Why the file silences this warning, where it does.
    silenced: str | None = None

    def __str__(self) -> str:
        if not self.path and self.value is ABSENT:  # it is about the file as a whole
            return _printable(self.message)
        where = f"{dotted(self.path)}: " if self.path else ""
        return _printable(f"{where}{shown(self.value, self.path)}: {self.message}")


class ConfigError(Exception):
    """Cluster files that cannot be used: every problem of every file, one line each."""

    def __init__(self, problems: Mapping[str, Sequence[Problem]]) -> None:
        self.problems = {file: tuple(found) for file, found in problems.items() if found}
        super().__init__(
            "\n".join(f"{placed(file, problem)}: {problem}" for file, found in self.problems.items() for problem in found)
        )


def placed(file: str, problem: Problem) -> str:
    """The file with the line and the column in it at which the problem is, as editors and terminals make a link of."""
    return _printable(f"{file}:{problem.place}" if problem.place else file)


def dotted(path: Path) -> str:
    """The path as a reader of the file would say it: ``instance_groups[2].overrides.ImageId``."""
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
    """The value as YAML would write it, on one line and cut to a readable length; three dots for what is a secret by its name."""
    if value is ABSENT:
        return "nothing"
    text = json.dumps(without_secrets(value, path), ensure_ascii=False, default=str)
    if (secret := text.find("PRIVATE KEY-----")) >= 0:  # what is printed here ends up in logs
        text = f"{text[:secret]}PRIVATE KEY-----..."
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 3]}..."


def _printable(text: str) -> str:
    """The text without line ends, and without what no terminal can print."""
    return " ".join(text.splitlines()).encode("utf-8", "backslashreplace").decode()
