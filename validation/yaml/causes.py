"""Mistakes in YAML that a parser notices later than they were made, or names in its own words: where they are, and the remedy."""

import re

from validation.yaml.layout import LAYOUT
from validation.yaml.parse_error import Cause, Recogniser, Stumble

_FIRST_OF_MERGE = re.compile("<{7} ")


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
    if quote == "'" and text[column - 2 : column - 1].isalnum() and text[column : column + 1].isalnum():
        return Cause(line, column - 1, "has an apostrophe in single quotes; use double ones")
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


_RECOGNISERS: tuple[Recogniser, ...] = (
    _merge_marks,
    _second_document,
    _open_quote,
    _open_bracket,
    _escape,
    _first_character,
    _unknown_anchor,
    *LAYOUT,
)
