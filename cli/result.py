"""The result of a command: data for programs, text for people, and problems."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cli.errors import CommandError
from config.errors import ConfigError

ERROR = "error"
Json = dict[str, Any]


@dataclass(frozen=True)
class Table:
    """Rows below their head."""

    head: Sequence[str]
    rows: Sequence[Sequence[object]]

    def __str__(self) -> str:
        """Return the table in columns as wide as their widest cell."""
        lines = [list(self.head), *([str(cell) for cell in row] for row in self.rows)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.head))]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
        )


class Verbatim(str):
    """Text that is printed unchanged: files, logs, and the output of programs."""

    __slots__ = ()


Block = str | Table
Show = Callable[[Block], None]


@dataclass(frozen=True)
class Result:
    """The answer of a command; a ``failure`` ends it with the exit code."""

    data: Mapping[str, Any] | None
    text: Sequence[Block] = ()
    problems: Sequence[Json] = ()
    failure: str = ""
    exit_code: int = 1

    def __str__(self) -> str:
        """Return the text, with a blank line between blocks."""
        return "\n\n".join(map(str, self.text))


def ignore(_: Block) -> None:
    """Show nothing: for commands whose lines are not printed while they run."""


def failed(error: CommandError | ConfigError) -> Result:
    """Return the result of a command that ended with the error."""
    if isinstance(error, ConfigError):
        from validation.report import problem_fields  # noqa: PLC0415  imports the rules, which help does not need

        found = [problem_fields(file, problem) for file, problems in error.problems.items() for problem in problems]
        return Result(None, (), found, Verbatim(error))  # a line for each problem, as editors read it
    return Result(None, (), [error_problem(error)], str(error))


def error_problem(error: CommandError | str) -> Json:
    """Return a message, with the fix if it has one, as an error for JSON."""
    return _problem(ERROR, error)


def warning_problem(warning: CommandError | str) -> Json:
    """Return a message, with the fix if it has one, as a warning for JSON."""
    return _problem("warning", warning)


def _problem(level: str, problem: CommandError | str) -> Json:
    message, fix = (problem.message, problem.fix) if isinstance(problem, CommandError) else (problem, "")
    return {"level": level, "message": message, "fix": fix or None}
