"""Says what the YAML parser stumbled over in the user's words, and where that began."""

import re

import yaml
from yaml.reader import ReaderError

from config.errors import ABSENT, Place, Problem
from validation.yaml.causes import cause
from validation.yaml.parse_error import Stumble

_OPENERS = {"while parsing a flow sequence": "[", "while parsing a flow mapping": "{"}


def syntax_problem(error: yaml.YAMLError, source: bytes) -> Problem:
    """The first place at which ``source`` is no YAML, what is wrong there, and the remedy."""
    if isinstance(error, ReaderError):
        return _unreadable(error, source)
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return Problem((), ABSENT, f"is not YAML: {error}; compare it with examples/clusters/", "yaml.syntax")
    if (tab := _tab(mark, source)) is not None:
        return tab
    if found := cause(_stumble(error, mark, source)):
        line = source.decode("utf-8", "replace").splitlines()[found.line : found.line + 1]
        return Problem((), "".join(line).strip(), found.message, "yaml.syntax", place=found.place)
    where = f"line {mark.line + 1}, column {mark.column + 1}"
    value = _snippet(mark) or _snippet(getattr(error, "context_mark", None) or mark)
    return Problem((), value, f"is not YAML at {where}: {_what(error, mark)}", "yaml.syntax", place=_place(mark))


def _stumble(error: yaml.YAMLError, mark: yaml.Mark, source: bytes) -> Stumble:
    """The error in the words in which its causes are looked for."""
    began = getattr(error, "context_mark", None)
    return Stumble(
        said=str(getattr(error, "problem", None) or ""),
        context=str(getattr(error, "context", None) or ""),
        place=(mark.line, mark.column),
        began=(began.line, began.column) if began else None,
        lines=tuple(source.decode("utf-8", "replace").splitlines()),
    )


def _what(error: yaml.YAMLError, mark: yaml.Mark) -> str:
    """What is wrong and the remedy, with the line in which the part began that the parser was in."""
    said = str(getattr(error, "problem", None) or "not YAML")
    context, began = getattr(error, "context", None), getattr(error, "context_mark", None)
    if began is None or context is None:
        return f"{said}; check the indentation, colons and quotes there and in the line before"
    if opener := _OPENERS.get(context):
        comma = "put a comma before it, or " if began.line == mark.line and "got ':'" in said else ""
        return f"{said}; {comma}close the {opener} of line {began.line + 1}, column {began.column + 1}"
    if "but found '<block" in said or "but found '-'" in said:
        return f"it is indented like no line above it since line {began.line + 1}; align it with the lines of its section"
    place = f" (it began in line {began.line + 1})" if began.line != mark.line else ""
    return f"{context}{place}, {said}; check the indentation, colons and quotes from there on"


def _tab(mark: yaml.Mark, source: bytes) -> Problem | None:
    """The problem that a tab in the indentation, or where the parser stopped, is the cause."""
    lines = source.decode("utf-8", "replace").splitlines()
    line = lines[mark.line] if mark.line < len(lines) else ""
    if re.match(r" *\t", line):
        message = f"line {mark.line + 1} is indented with a tab; use spaces"
        return Problem((), _snippet(mark), message, "yaml.tab", place=Place(mark.line + 1, line.index("\t") + 1))
    if line[mark.column : mark.column + 1] == "\t":
        message = f"line {mark.line + 1} has a tab in column {mark.column + 1}; use spaces"
        return Problem((), _snippet(mark), message, "yaml.tab", place=_place(mark))
    return None


def _unreadable(error: ReaderError, source: bytes) -> Problem:
    """The problem that the bytes are no text, or hold a character that YAML does not take."""
    if error.encoding != "unicode":
        place = _place_after(source[: error.position].decode("utf-8", "replace"))
        byte = f"byte 0x{error.character:02x} in line {place.line}"
        message = f"the file is not text in UTF-8, {byte} is not; save it as UTF-8"
        return Problem((), ABSENT, message, "yaml.encoding", place=place)
    place = _place_after(source.decode("utf-8", "replace")[: error.position])
    message = f"line {place.line} holds the character U+{error.character:04X}, which no YAML file can; remove it"
    return Problem((), ABSENT, message, "yaml.character", place=place)


def _place(mark: yaml.Mark) -> Place:
    return Place(mark.line + 1, mark.column + 1)


def _place_after(text: str) -> Place:
    """Where in a file goes on what begins with ``text``."""
    return Place(text.count("\n") + 1, len(text) - text.rfind("\n"))


def _snippet(mark: yaml.Mark) -> str:
    lines = (mark.get_snippet(indent=0, max_length=60) or "").splitlines()
    return next(iter(lines), "").strip()
