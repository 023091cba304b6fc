"""Fits text into a width: breaks lines only between words. A cell that does not fit its column has a line of its own."""

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
    """Return the width of each column: first, text is wrapped; then, columns are made narrower than their longest words."""
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
