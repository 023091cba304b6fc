"""Mistakes in YAML that a parser notices later than they were made, or names in its own words: where they are, and the remedy."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from config.errors import Place

_FIRST_OF_MERGE = re.compile("<{7} ")
_OTHER_COMMENT = re.compile(r"\s*(//|;|--|/\*)")


@dataclass(frozen=True)
class Stumble:
    """What the parser said and where; lines are counted from 0, as the parser does."""

    said: str
    context: str
    place: tuple[int, int]
    # Where the part began that the parser was in.
    began: tuple[int, int] | None
    lines: tuple[str, ...]

    def line(self, number: int) -> str:
        """The line of this number; an empty one behind the last."""
        return self.lines[number] if 0 <= number < len(self.lines) else ""

    def before(self, number: int) -> Iterator[int]:
        """The numbers of the lines above that say something, the nearest first."""
        return (each for each in range(min(number, len(self.lines)) - 1, -1, -1) if _content(self.lines[each]))


@dataclass(frozen=True)
class Cause:
    """A mistake: the line and the column where it was made (from 0), what is wrong, and the remedy."""

    line: int
    column: int
    message: str

    @property
    def place(self) -> Place:
        """The place as users count."""
        return Place(self.line + 1, self.column + 1)


Recogniser = Callable[[Stumble], Cause | None]


def cause(stumble: Stumble) -> Cause | None:
    """The mistake that made the parser stumble, if it is one of those that users make."""
    return next((found for recognise in _RECOGNISERS if (found := recognise(stumble))), None)


def _merge_marks(stumble: Stumble) -> Cause | None:
    marks = (number for number, line in enumerate(stumble.lines) if _FIRST_OF_MERGE.match(line))
    if (number := next(marks, None)) is None:
        return None
    return Cause(number, 0, "is a mark of a merge that is not finished; keep one of the two sides, and no marks")


def _second_document(stumble: Stumble) -> Cause | None:
    if "but found another document" not in stumble.said:
        return None
    return Cause(*stumble.place, "begins a second document; describe each cluster in a file of its own")


def _open_quote(stumble: Stumble) -> Cause | None:
    if stumble.context == "while scanning a quoted scalar" and stumble.began:
        return Cause(*stumble.began, "begins with a quote that is not closed; close it")
    line, column = stumble.place
    text = stumble.line(line)
    if "but found '<scalar>'" not in stumble.said or text[column - 1 : column] not in ("'", '"'):
        return None
    # Where a quote was not closed, the parser stumbles behind the next one, in whichever line that is.
    quote = text[column - 1]
    if text[:column].count(quote) % 2:
        for number in stumble.before(line):
            if stumble.line(number).count(quote) % 2:
                return Cause(number, stumble.line(number).rindex(quote), "has a quote that is not closed; close it in this line")
    return Cause(line, column, "goes on behind its closing quote; put all of the text in the quotes")


def _open_bracket(stumble: Stumble) -> Cause | None:
    opener = {"while parsing a flow sequence": "[", "while parsing a flow mapping": "{"}.get(stumble.context)
    if opener is None or not stumble.began or stumble.began[0] == stumble.place[0]:
        return None
    message = (
        f"opens a {opener} that is not closed before line {stumble.place[0] + 1}; close it, or put in the comma that is missing"
    )
    return Cause(*stumble.began, message)


def _escape(stumble: Stumble) -> Cause | None:
    if "unknown escape character" not in stumble.said:
        return None
    return Cause(*stumble.place, "has a backslash in double quotes, which means something there; use single quotes")


def _first_character(stumble: Stumble) -> Cause | None:
    if "cannot start any token" not in stumble.said and stumble.context not in (
        "while scanning an alias",
        "while scanning an anchor",
    ):
        return None
    line, column = stumble.began or stumble.place
    character = stumble.line(line)[column : column + 1]
    return Cause(line, column, f"text cannot begin with {character}; put it in quotes") if character else None


def _unknown_anchor(stumble: Stumble) -> Cause | None:
    found = re.search(r"found undefined alias '(.+)'", stumble.said)
    if not found:
        return None
    return Cause(*stumble.place, f"nothing above is marked with &{found[1]}; write the value itself")


def _no_colon(stumble: Stumble) -> Cause | None:
    if "could not find expected ':'" in stumble.said and stumble.began:
        return _without_colon(stumble, stumble.began[0])
    if "expected '<document start>'" in stumble.said and (above := next(stumble.before(stumble.place[0]), None)) is not None:
        return _without_colon(stumble, above)
    return None


def _without_colon(stumble: Stumble, number: int) -> Cause:
    text = stumble.line(number)
    column, words = _column(text), _content(text).split()
    if _OTHER_COMMENT.match(text):
        return Cause(number, column, "is no field; begin comments with #")
    if quoted := re.fullmatch(r"(['\"])(\w+: .*)\1", _content(text)):
        return Cause(number, column, f"has its colon in the quotes; write `{quoted[2]}`")
    if equal := re.fullmatch(r"(\w+)\s*=\s*(\S.*)", _content(text)):
        return Cause(number, column, f"has = in the place of its colon; write `{equal[1]}: {equal[2]}`")
    if close := re.search(r"\w+:(?=\S)", text):
        return Cause(
            number, column, f"has no blank after its colon; write `{close[0]} {text[close.end() :].split(' #')[0].strip()}`"
        )
    example = {1: f"{words[0]}:", 2: ": ".join(words)}.get(len(words), "key: value") if words else "key: value"
    return Cause(number, column, f"has no colon; write `{example}`")


def _value_in_a_value(stumble: Stumble) -> Cause | None:
    """``mapping values are not allowed here`` is said of a colon that comes where a value already is."""
    if "mapping values are not allowed" not in stumble.said:
        return None
    line, column = stumble.place
    text = stumble.line(line)
    if key := re.match(r"\s*(- )*[^:]+:\s+(?=\S)", text[:column]):
        return Cause(line, key.end(), "has a second colon in its text; put the text in quotes")
    above = next(stumble.before(line), None)
    if above is None:
        return None
    if not re.search(r":(\s|$)", _content(stumble.line(above))):
        return _without_colon(stumble, above)
    if _column(text) > _column(stumble.line(above)):
        return Cause(line, _column(text), f"is indented further than line {above + 1}, which has its value; align the two")
    return None


def _no_minus(stumble: Stumble) -> Cause | None:
    """Entries of a list and fields of a section that stand among each other."""
    line, _ = stumble.place
    text = stumble.line(line)
    if re.match(r"\s*-[^\s-]", text) and "but found '?'" in stumble.said:
        return Cause(line, _indent(text), f"has no blank after its minus; write `- {text.strip()[1:]}`")
    if "but found '?'" in stumble.said and stumble.context == "while parsing a block collection":
        message = "stands among entries that begin with a minus; put a minus before it, or indent it like its entry's fields"
        return Cause(line, _indent(text), message)
    if "but found '-'" not in stumble.said and "but found '<block sequence start>'" not in stumble.said:
        return None
    return _first_without_minus(stumble, line)


def _other_indentation(stumble: Stumble) -> Cause | None:
    line, _ = stumble.place
    above = next(stumble.before(line), None)
    if "but found '<block" not in stumble.said or above is None or _column(stumble.line(above)) == _column(stumble.line(line)):
        return None
    has, had = _column(stumble.line(line)), _column(stumble.line(above))
    message = f"begins in column {has + 1}, and line {above + 1} in column {had + 1}; align it with the lines of its section"
    return Cause(line, has, message)


def _first_without_minus(stumble: Stumble, line: int) -> Cause | None:
    """The first line of a list, where it has no minus or stands elsewhere than the entry in ``line``."""
    text, first = stumble.line(line), None
    for number in stumble.before(line):
        if _indent(stumble.line(number)) < _indent(text) or re.match(r"\w+:\s*$", _content(stumble.line(number))):
            break
        first = number
    if first is None or not _content(text).startswith("- "):
        return None
    if not _content(stumble.line(first)).startswith("- "):
        return Cause(first, _indent(stumble.line(first)), f"has no minus, which line {line + 1} below has; put `- ` before it")
    return Cause(line, _indent(text), f"has its minus in another column than line {first + 1}; align the two")


_RECOGNISERS: tuple[Recogniser, ...] = (
    _merge_marks,
    _second_document,
    _open_quote,
    _open_bracket,
    _escape,
    _first_character,
    _unknown_anchor,
    _no_colon,
    _value_in_a_value,
    _no_minus,
    _other_indentation,
)


def _content(line: str) -> str:
    """What the line says, without its comment."""
    return re.sub(r"(^|\s)#.*", "", line).strip()


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _column(line: str) -> int:
    """Where the line's text begins behind its minus."""
    found = re.match(r" *(- +)*", line)
    return found.end() if found else 0
