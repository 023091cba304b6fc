"""Fits text into a width: it breaks lines only between words, and prints a row in lines of its own where columns do not fit."""

import re
from collections.abc import Iterator, Sequence

from cli.result import Block, Table, Verbatim

GAP = 2
NARROWEST = 20
"""Columns of text are not made narrower than this."""
_WORD = re.compile(r"(\s*)((?:`[^`]*`|\S)+)")
"""A word, or a command in backticks, with the space before it."""
_COMMAND = re.compile(r" +(\./hpod|cdk|aws) ")
"""The beginning of an indented line with a command to copy."""


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
    rows = [list(table.head), *([str(cell).replace("\n", " ") for cell in row] for row in table.rows)]
    widths = _widths(rows, width)
    if widths is None:
        yield from _records(rows, width)
        return
    for row in rows:
        cells = [_wrapped(cell, room, hanging=0) for cell, room in zip(row, widths, strict=True)]
        for index in range(max(map(len, cells))):
            parts = [cell[index] if index < len(cell) else "" for cell in cells]
            yield (" " * GAP).join(part.ljust(room) for part, room in zip(parts, widths, strict=True)).rstrip()


def _widths(rows: Sequence[Sequence[str]], width: int) -> list[int] | None:
    """Return the width of each column; None if the columns do not fit."""
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, cells)) for cells in columns]
    least = [
        max(min(wide, NARROWEST), *(_longest_word(cell) for cell in cells)) for wide, cells in zip(widths, columns, strict=True)
    ]
    excess = sum(widths) + GAP * (len(widths) - 1) - width
    for index in sorted(range(len(widths)), key=lambda index: least[index] - widths[index]):
        cut = max(0, min(excess, widths[index] - least[index]))
        widths[index] -= cut
        excess -= cut
    return None if excess > 0 else widths


def _longest_word(cell: str) -> int:
    return max((len(word) for _, word in _WORD.findall(cell)), default=0)


def _records(rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Yield each row as lines of a head and a value, with an empty line between rows."""
    head, *values = rows
    room = max(map(len, head)) + GAP
    for index, row in enumerate(values):
        if index:
            yield ""
        for name, value in zip(head, row, strict=True):
            if value:
                yield from _wrapped(f"{name:<{room}}{value}", width, hanging=room)
