"""Turn YAML syntax errors into problems."""

import re

import yaml
from yaml.reader import ReaderError

from config.errors import ABSENT, Place, Problem
from validation.yaml.causes import OPENERS, cause
from validation.yaml.parse_error import ParseError


def syntax_problem(error: yaml.YAMLError, source: bytes) -> Problem:
    """Return the first syntax error in ``source``."""
    if isinstance(error, ReaderError):
        return _unreadable(error, source)
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return Problem((), ABSENT, f"invalid YAML: {error}", "compare it with examples/clusters/", rule="yaml.syntax")
    parsed = _parse_error(error, mark, source)
    if (tab := _tab(mark, parsed)) is not None:
        return tab
    if found := cause(parsed):
        line = "".join(parsed.lines[found.line : found.line + 1]).strip()
        return Problem((), line, found.message, found.fix, rule="yaml.syntax", place=found.place)
    where = f"line {mark.line + 1}, column {mark.column + 1}"
    value = _snippet(mark) or _snippet(getattr(error, "context_mark", None) or mark)
    message, fix = _what(parsed)
    return Problem((), value, f"invalid YAML at {where}: {message}", fix, rule="yaml.syntax", place=_place(mark))


def _parse_error(error: yaml.YAMLError, mark: yaml.Mark, source: bytes) -> ParseError:
    """Return the error in a form that causes can inspect."""
    start = getattr(error, "context_mark", None)
    return ParseError(
        problem=str(getattr(error, "problem", None) or ""),
        context=str(getattr(error, "context", None) or ""),
        place=(mark.line, mark.column),
        start=(start.line, start.column) if start else None,
        lines=tuple(source.decode("utf-8", "replace").splitlines()),
    )


def _what(error: ParseError) -> tuple[str, str]:
    """Return the parser's problem and a fix, with the line where its construct starts."""
    problem = error.problem or "not YAML"
    if error.start is None or not error.context:
        return problem, "check the indentation, colons and quotes there and on the line before"
    line, column = (number + 1 for number in error.start)
    is_above = error.start[0] != error.place[0]
    if opener := OPENERS.get(error.context):
        comma = "add a comma before it, or " if not is_above and "got ':'" in problem else ""
        return problem, f"{comma}close the {opener} of line {line}, column {column}"
    if "but found '<block" in problem or "but found '-'" in problem:
        return f"its indentation matches no line since line {line}", "align it with the lines of its section"
    place = f" (from line {line})" if is_above else ""
    return f"{error.context}{place}, {problem}", "check the indentation, colons and quotes from there"


def _tab(mark: yaml.Mark, error: ParseError) -> Problem | None:
    """Return the problem if a tab caused the error."""
    line = "".join(error.lines[mark.line : mark.line + 1])
    if re.match(r" *\t", line):
        message = f"line {mark.line + 1} is indented with a tab"
        return Problem(
            (), _snippet(mark), message, "use spaces", rule="yaml.tab", place=Place(mark.line + 1, line.index("\t") + 1)
        )
    if line[mark.column : mark.column + 1] == "\t":
        message = f"line {mark.line + 1} has a tab in column {mark.column + 1}"
        return Problem((), _snippet(mark), message, "use spaces", rule="yaml.tab", place=_place(mark))
    return None


def _unreadable(error: ReaderError, source: bytes) -> Problem:
    """Return the problem with a byte or a character that is not allowed."""
    if error.encoding != "unicode":
        place = _place_after(source[: error.position].decode("utf-8", "replace"))
        message = f"invalid UTF-8 byte 0x{error.character:02x} on line {place.line}"
        return Problem((), ABSENT, message, "save the file as UTF-8", rule="yaml.encoding", place=place)
    place = _place_after(source.decode("utf-8", "replace")[: error.position])
    message = f"character U+{error.character:04X} on line {place.line} is not allowed in YAML"
    return Problem((), ABSENT, message, "remove it", rule="yaml.character", place=place)


def _place(mark: yaml.Mark) -> Place:
    return Place(mark.line + 1, mark.column + 1)


def _place_after(text: str) -> Place:
    """Return the place after ``text`` at the start of a file."""
    return Place(text.count("\n") + 1, len(text) - text.rfind("\n"))


def _snippet(mark: yaml.Mark) -> str:
    lines = (mark.get_snippet(indent=0, max_length=60) or "").splitlines()
    return next(iter(lines), "").strip()
