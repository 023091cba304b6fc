"""Prints the result of any command: text that fits the terminal for people, or one JSON envelope for programs."""

import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

from cli.result import ERROR, Block, Result, Show, Table, Verbatim, error_problem, ignore
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
GAP = 2
NARROWEST = 20
"""Columns of text are not made narrower than this."""
_WORD = re.compile(r"(\s*)((?:`[^`]*`|\S)+)")
"""A word, or a command in backticks, with the space before it."""
_COMMAND = re.compile(r" +(\./hpod|cdk|aws) ")
"""The beginning of an indented line with a command to copy."""


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


def fitted(block: Block, width: int) -> list[str]:
    """Return the lines of a block, none wider than the width unless a single word is."""
    if isinstance(block, Table):
        return list(_table(block, width))
    if isinstance(block, Verbatim):
        return [str(block)]
    return [part for line in block.splitlines() or [""] for part in _wrapped(line, width)]


def _wrapped(line: str, width: int, hanging: int = GAP) -> list[str]:
    """Return the line in parts; all but the first are indented more."""
    if len(line) <= width or _COMMAND.match(line):
        return [line]
    indent = " " * (len(line) - len(line.lstrip()) + hanging)
    parts: list[str] = []
    current = ""
    for gap, word in _WORD.findall(line):
        start = len(current) + len(gap)
        if len(indent) < start and current and start + len(word) > width:
            parts.append(current)
            current = indent + word
        else:
            current += gap + word
    return [*parts, current]


def _table(table: Table, width: int) -> Iterator[str]:
    """Yield the rows; a cell with a word wider than its column follows its row, or precedes it if it is the first."""
    rows = [list(table.head), *([str(cell).replace("\n", " ") for cell in row] for row in table.rows)]
    kept, before = rows, None
    while kept != before:  # the widths without a moved cell can be too narrow for another
        before, widths = kept, _widths(kept, width)
        kept = [["" if _longest_word(cell) > room else cell for cell, room in zip(row, widths, strict=True)] for row in kept]
    for row, shown in zip(rows, kept, strict=True):
        if row[0] != shown[0]:
            yield from _wrapped(row[0], width)
        cells = [_wrapped(cell, room, hanging=0) for cell, room in zip(shown, widths, strict=True)]
        for index in range(max(map(len, cells)) if any(shown) else 0):
            parts = [cell[index] if index < len(cell) else "" for cell in cells]
            yield (" " * GAP).join(part.ljust(room) for part, room in zip(parts, widths, strict=True)).rstrip()
        for name, cell, here in zip(rows[0][1:], row[1:], shown[1:], strict=True):
            if cell != here:
                yield from _wrapped(f"{' ' * GAP}{name}: {cell}", width)


def _widths(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return the width of each column: first, text is wrapped; then, columns become narrower than their longest words."""
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, cells)) for cells in columns]
    longest = [max(map(_longest_word, cells)) for cells in columns]
    least = [max(min(wide, NARROWEST), word) for wide, word in zip(widths, longest, strict=True)]
    heads = [len(cells[0]) for cells in columns]
    narrow = [max(min(wide, NARROWEST), head) for wide, head in zip(widths, heads, strict=True)]
    for floors in (least, [least[0], *narrow[1:]], [least[0], *heads[1:]], heads):  # names in the first column last
        excess = sum(widths) + GAP * (len(widths) - 1) - width
        for index in sorted(range(len(widths)), key=lambda index: floors[index] - widths[index]):
            cut = max(0, min(excess, widths[index] - floors[index]))
            widths[index] -= cut
            excess -= cut
    return widths


def _longest_word(cell: str) -> int:
    return max((len(word) for _, word in _WORD.findall(cell)), default=0)
