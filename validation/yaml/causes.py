"""Find the actual cause of a YAML syntax error, which the parser reports later or in other words."""

import re

from validation.yaml.parse_error import Cause, Detector, ParseError, column_of, content_of, indent_of

OPENERS = {"while parsing a flow sequence": "[", "while parsing a flow mapping": "{"}
_FIRST_OF_MERGE = re.compile("<{7} ")
_OTHER_COMMENT = re.compile(r"\s*(//|;|--|/\*)")
# The messages where the parser finds the mistake itself, by its words.
_IN_PLACE = {
    "but found another document": ("starts a second document", "use one file for each cluster"),
    "unknown escape character": ("invalid escape sequence in double quotes", "use single quotes"),
    "cannot start any token": ("text cannot start with this character", "put it in quotes"),
    "expected alphabetic or numeric character": ("text cannot start with & or *", "put it in quotes"),
    "found undefined alias": ("the anchor is not defined", "write the value itself"),
    "sequence entries are not allowed here": ("list starts on the line of its field", "move it to the next line, and indent it"),
}


def cause(error: ParseError) -> Cause | None:
    """Return the cause of the parser's error, if it is a common mistake."""
    return next((found for detect in _DETECTORS if (found := detect(error))), None)


def _in_place(error: ParseError) -> Cause | None:
    parts = next((parts for words, parts in _IN_PLACE.items() if words in error.problem), None)
    return Cause(*error.place, *parts) if parts else None


def _merge_marks(error: ParseError) -> Cause | None:
    marks = (number for number, line in enumerate(error.lines) if _FIRST_OF_MERGE.match(line))
    if (number := next(marks, None)) is None:
        return None
    return Cause(number, 0, "unresolved merge conflict", "keep one side, and remove the markers")


def _open_quote(error: ParseError) -> Cause | None:
    if error.context == "while scanning a quoted scalar" and error.start:
        return Cause(*error.start, "unclosed quote", "close it")
    line, column = error.place
    text = error.line(line)
    if "but found '<scalar>'" not in error.problem or text[column - 1 : column] not in ("'", '"'):
        return None
    # After an unclosed quote, the parser fails at the next quote, which may be lines below.
    quote = text[column - 1]
    if text[:column].count(quote) % 2:
        for number in error.before(line):
            if error.line(number).count(quote) % 2:
                return Cause(number, error.line(number).rindex(quote), "unclosed quote", "close it on this line")
    if quote == "'" and text[column - 2 : column - 1].isalnum() and text[column : column + 1].isalnum():
        return Cause(line, column - 1, "apostrophe in single quotes", "use double quotes")
    return Cause(line, column, "text after the closing quote", "put all of the text in quotes")


def _open_bracket(error: ParseError) -> Cause | None:
    opener = OPENERS.get(error.context)
    if opener is None or not error.start or error.start[0] == error.place[0]:
        return None
    return Cause(*error.start, f"{opener} is not closed before line {error.place[0] + 1}", "close it, or add the missing comma")


def _text_of_lines(error: ParseError) -> Cause | None:
    """Find multi-line text that ends early: at a line that is not indented, or at a comment."""
    line = error.start[0] if "could not find expected ':'" in error.problem and error.start else error.place[0]
    above = next(error.before(line), None)
    if above is not None and re.search(r": [|>][-+]?$", content_of(error.line(above))):
        return Cause(line, indent_of(error.line(line)), f"text of line {above + 1} is not indented", "indent it")
    if "but found '<scalar>'" in error.problem and error.line(line - 1).strip().startswith("#"):
        return Cause(line, indent_of(error.line(line)), "continues text that the comment above ended", "move the comment")
    return None


def _no_colon(error: ParseError) -> Cause | None:
    if "could not find expected ':'" in error.problem and error.start:
        return _without_colon(error, error.start[0])
    if "expected '<document start>'" in error.problem and (above := next(error.before(error.place[0]), None)) is not None:
        return _without_colon(error, above)
    return None


def _without_colon(error: ParseError, number: int) -> Cause:
    text = error.line(number)
    column, words = column_of(text), content_of(text).split()
    if _OTHER_COMMENT.match(text):
        return Cause(number, column, "not a field", "start comments with #")
    if quoted := re.fullmatch(r"(['\"])(\w+: .*)\1", content_of(text)):
        return Cause(number, column, "colon inside quotes", f"write `{quoted[2]}`")
    if equal := re.fullmatch(r"(\w+)\s*=\s*(\S.*)", content_of(text)):
        return Cause(number, column, "= instead of a colon", f"write `{equal[1]}: {equal[2]}`")
    if close := re.search(r"\w+:(?=\S)", text):
        return Cause(
            number, column, "no space after the colon", f"write `{close[0]} {text[close.end() :].split(' #')[0].strip()}`"
        )
    example = {1: f"{words[0]}:", 2: ": ".join(words)}.get(len(words), "key: value") if words else "key: value"
    return Cause(number, column, "missing colon", f"write `{example}`")


def _value_in_a_value(error: ParseError) -> Cause | None:
    """Find a colon after a value, for which PyYAML reports ``mapping values are not allowed here``."""
    if "mapping values are not allowed" not in error.problem:
        return None
    line, column = error.place
    text = error.line(line)
    if key := re.match(r"\s*(- )*[^:]+:\s+(?=\S)", text[:column]):
        return Cause(line, key.end(), "second colon in text", "put the text in quotes")
    above = next(error.before(line), None)
    if above is None:
        return None
    if not re.search(r":(\s|$)", content_of(error.line(above))):
        return _without_colon(error, above)
    if column_of(text) > column_of(error.line(above)):
        return Cause(line, column_of(text), f"indented deeper than line {above + 1}, which has a value", "align both lines")
    return None


def _no_minus(error: ParseError) -> Cause | None:
    """Find list entries and fields that are mixed."""
    line, _ = error.place
    text = error.line(line)
    if re.match(r"\s*-[^\s-]", text) and "but found '?'" in error.problem:
        return Cause(line, indent_of(text), "no space after the minus", f"write `- {text.strip()[1:]}`")
    if "but found '?'" in error.problem and error.context == "while parsing a block collection":
        message = "missing minus in a list"
        return Cause(line, indent_of(text), message, "add one, or indent this line like the fields of its entry")
    if "but found '-'" not in error.problem and "but found '<block sequence start>'" not in error.problem:
        return None
    return _first_without_minus(error, line)


def _first_without_minus(error: ParseError, line: int) -> Cause | None:
    """Find the first line of a list, if it has no minus or another indentation than ``line``."""
    text, first = error.line(line), None
    for number in error.before(line):
        if indent_of(error.line(number)) < indent_of(text) or re.match(r"\w+:\s*$", content_of(error.line(number))):
            break
        first = number
    if first is None or not content_of(text).startswith("- "):
        return None
    if not content_of(error.line(first)).startswith("- "):
        return Cause(first, indent_of(error.line(first)), f"no minus, unlike line {line + 1}", "add `- `")
    return Cause(line, indent_of(text), f"minus in another column than line {first + 1}", "align both")


_DETECTORS: tuple[Detector, ...] = (
    _merge_marks,
    _in_place,
    _open_quote,
    _open_bracket,
    _text_of_lines,
    _no_colon,
    _value_in_a_value,
    _no_minus,
)
