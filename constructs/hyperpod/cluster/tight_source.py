"""Python source with no more space in its lines than Python needs."""

import io
import tokenize
from collections.abc import Iterator
from typing import NamedTuple

ONE_PIECE = {"FSTRING_START": 1, "TSTRING_START": 1, "FSTRING_END": -1, "TSTRING_END": -1}
"""From 3.12 on these strings come in parts, which are put together again, so that every Python writes the same."""


class Piece(NamedTuple):
    """A token as it stands in the source, and the lines that it is in."""

    kind: str
    text: str
    first: int
    last: int


def tight_source(source: str) -> str:
    """The same tokens in the same lines."""
    written: list[str] = []
    level, line, before = 0, 1, ""
    for piece in _pieces(source):
        if piece.kind in ("INDENT", "DEDENT"):
            level += 1 if piece.kind == "INDENT" else -1
            continue
        written.append("\\\n" * (piece.first - line))
        begins = not before and piece.kind not in ("NEWLINE", "NL")
        written.append(" " * level if begins else " " * _must_be_apart(before, piece.text))
        written.append(piece.text)
        before = "" if piece.kind == "NEWLINE" else piece.text if before or begins else ""
        line = piece.last + (piece.kind in ("NEWLINE", "NL"))
    return "".join(written)


def _must_be_apart(before: str, after: str) -> bool:
    return _is_word(before[-1:]) and _is_word(after[:1])


def _is_word(character: str) -> bool:
    return character.isalnum() or character in ("_", '"', "'")


def _pieces(source: str) -> Iterator[Piece]:
    lines = source.splitlines(keepends=True)
    depth, begin = 0, (1, 0)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kind = tokenize.tok_name[token.type]
        begin = begin if depth else token.start
        depth += ONE_PIECE.get(kind, 0)
        if kind == "ENDMARKER":
            return
        if not depth:
            text = token.string if kind in ("INDENT", "DEDENT", "NEWLINE", "NL") else _between(lines, begin, token.end)
            yield Piece(kind, text, begin[0], token.end[0])


def _between(lines: list[str], begin: tuple[int, int], end: tuple[int, int]) -> str:
    stretch = lines[begin[0] - 1 : end[0]]
    stretch[-1] = stretch[-1][: end[1]]
    stretch[0] = stretch[0][begin[1] :]
    return "".join(stretch)
