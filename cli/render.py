"""Prints the result of any command: text for people, or one JSON envelope for programs."""

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from cli.layout import fitted
from cli.result import ERROR, Block, Result, Show, error_problem, ignore
from config.printable import printable

ENVELOPE_VERSION = 1
JSON = "json"
CLEAR = "\x1b[2J\x1b[H"
"""Clears a terminal, and moves its cursor to the top left corner."""
WITHOUT_TERMINAL = (80, 24)
"""Columns and lines of a pipe or a file, unless the variable COLUMNS is set."""
Redraw = Callable[[Result], None]
STYLES = {"hpod.head": "bold", "hpod.error": "red", "hpod.warning": "yellow", "hpod.ok": "green"}
HIGHLIGHTS = (
    r"(?P<head>^[A-Z]+( +[A-Z]+)+$)",
    r"(?P<error>^error\b|(?<=: )error(?=: )|\b\w*FAILED\b|\b\w*ROLLBACK_COMPLETE\b|\bFailed\b|\bFailure\b)",
    r"(?P<warning>^warning\b|(?<=: )warning(?=: )|\b\w+_IN_PROGRESS\b)",
    r"(?P<ok>^ok\b|\b(CREATE|UPDATE|IMPORT)_COMPLETE\b|\bInService\b|\bRunning\b)",
)


def render(command: str, result: Result, output: str) -> None:
    """Print the result, and its failure to standard error."""
    if output == JSON:
        print(envelope(command, result), flush=True)
    else:
        _print(result.text)
    if result.failure:
        print(printable("\n".join(fitted(result.failure, _width()))), file=sys.stderr)


def redraw(result: Result) -> None:
    """Print the result in place of the screen's content; without a terminal, below it with the time."""
    if sys.stdout.isatty():
        print(CLEAR, end="")
        _print(result.text)
    else:
        _print([f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC", *result.text, ""])


def envelope(command: str, result: Result) -> str:
    """Return the JSON document that every command prints with ``--output json``."""
    problems = list(result.problems)
    if result.failure and all(problem["level"] != ERROR for problem in problems):
        problems.append(error_problem(result.failure))
    document = {"version": ENVELOPE_VERSION, "command": command, "data": result.data, "problems": problems}
    return json.dumps(document, indent=2, default=str)


def line_printer(output: str) -> Show:
    """Return what prints a line while a command runs: nothing for JSON, which is one document."""
    return ignore if output == JSON else lambda line: _print([line])


def _width() -> int:
    return shutil.get_terminal_size(WITHOUT_TERMINAL).columns


def _print(blocks: Sequence[Block]) -> None:
    """Print the blocks with a blank line between them; only a terminal gets colours."""
    lines = [printable(line) for block in blocks for line in (*fitted(block, _width()), "")][:-1]
    if not lines:
        return
    if sys.stdout.isatty():
        _print_to_terminal(lines)
    else:
        print("\n".join(lines), flush=True)


def _print_to_terminal(lines: Sequence[str]) -> None:
    from rich.console import Console  # noqa: PLC0415  slow to import, and only a terminal needs it
    from rich.highlighter import RegexHighlighter  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415
    from rich.theme import Theme  # noqa: PLC0415

    class Highlighter(RegexHighlighter):
        """Colours errors, warnings and good states."""

        base_style = "hpod."
        highlights = list(HIGHLIGHTS)  # noqa: RUF012  as in rich's own class

    console, highlighter = Console(theme=Theme(STYLES)), Highlighter()
    for line in lines:
        console.print(highlighter(Text(line)), soft_wrap=True)
