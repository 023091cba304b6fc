"""Mistakes in how a YAML file is laid out: colons, minuses and indentation."""

import re

from validation.yaml.parse_error import Cause, Recogniser, Stumble, column_of, content_of, indent_of

_OTHER_COMMENT = re.compile(r"\s*(//|;|--|/\*)")


def _list_in_a_line(stumble: Stumble) -> Cause | None:
    if "sequence entries are not allowed here" not in stumble.said:
        return None
    return Cause(*stumble.place, "begins a list in the line of its field; put it on the next line, indented")


def _text_of_lines(stumble: Stumble) -> Cause | None:
    """A text of several lines that ends before its writer thinks: where it is not indented, and at a comment."""
    line = stumble.began[0] if "could not find expected ':'" in stumble.said and stumble.began else stumble.place[0]
    above = next(stumble.before(line), None)
    if above is not None and re.search(r": [|>][-+]?$", content_of(stumble.line(above))):
        message = f"is text of line {above + 1}, and not indented; indent it below that"
        return Cause(line, indent_of(stumble.line(line)), message)
    if "but found '<scalar>'" in stumble.said and stumble.line(line - 1).strip().startswith("#"):
        return Cause(line, indent_of(stumble.line(line)), "goes on with a text that the comment above ended; move the comment")
    return None


def _below_braces(stumble: Stumble) -> Cause | None:
    line, _ = stumble.place
    above = next(stumble.before(line), None)
    if above is None or "but found '<block mapping start>'" not in stumble.said:
        return None
    if not content_of(stumble.line(above)).endswith("}"):
        return None
    message = f"is below the braces of line {above + 1}, which hold a whole section; put it between them"
    return Cause(line, indent_of(stumble.line(line)), message)


def _no_colon(stumble: Stumble) -> Cause | None:
    if "could not find expected ':'" in stumble.said and stumble.began:
        return _without_colon(stumble, stumble.began[0])
    if "expected '<document start>'" in stumble.said and (above := next(stumble.before(stumble.place[0]), None)) is not None:
        return _without_colon(stumble, above)
    return None


def _without_colon(stumble: Stumble, number: int) -> Cause:
    text = stumble.line(number)
    column, words = column_of(text), content_of(text).split()
    if _OTHER_COMMENT.match(text):
        return Cause(number, column, "is no field; begin comments with #")
    if quoted := re.fullmatch(r"(['\"])(\w+: .*)\1", content_of(text)):
        return Cause(number, column, f"has its colon in the quotes; write `{quoted[2]}`")
    if equal := re.fullmatch(r"(\w+)\s*=\s*(\S.*)", content_of(text)):
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
    if not re.search(r":(\s|$)", content_of(stumble.line(above))):
        return _without_colon(stumble, above)
    if column_of(text) > column_of(stumble.line(above)):
        return Cause(line, column_of(text), f"is indented further than line {above + 1}, which has its value; align the two")
    return None


def _no_minus(stumble: Stumble) -> Cause | None:
    """Entries of a list and fields of a section that stand among each other."""
    line, _ = stumble.place
    text = stumble.line(line)
    if re.match(r"\s*-[^\s-]", text) and "but found '?'" in stumble.said:
        return Cause(line, indent_of(text), f"has no blank after its minus; write `- {text.strip()[1:]}`")
    if "but found '?'" in stumble.said and stumble.context == "while parsing a block collection":
        message = "stands among entries that begin with a minus; put a minus before it, or indent it like its entry's fields"
        return Cause(line, indent_of(text), message)
    if "but found '-'" not in stumble.said and "but found '<block sequence start>'" not in stumble.said:
        return None
    return _first_without_minus(stumble, line)


def _other_indentation(stumble: Stumble) -> Cause | None:
    line, _ = stumble.place
    above = next(stumble.before(line), None)
    if (
        "but found '<block" not in stumble.said
        or above is None
        or column_of(stumble.line(above)) == column_of(stumble.line(line))
    ):
        return None
    has, had = column_of(stumble.line(line)), column_of(stumble.line(above))
    message = f"begins in column {has + 1}, and line {above + 1} in column {had + 1}; align it with the lines of its section"
    return Cause(line, has, message)


def _first_without_minus(stumble: Stumble, line: int) -> Cause | None:
    """The first line of a list, where it has no minus or stands elsewhere than the entry in ``line``."""
    text, first = stumble.line(line), None
    for number in stumble.before(line):
        if indent_of(stumble.line(number)) < indent_of(text) or re.match(r"\w+:\s*$", content_of(stumble.line(number))):
            break
        first = number
    if first is None or not content_of(text).startswith("- "):
        return None
    if not content_of(stumble.line(first)).startswith("- "):
        return Cause(first, indent_of(stumble.line(first)), f"has no minus, which line {line + 1} below has; put `- ` before it")
    return Cause(line, indent_of(text), f"has its minus in another column than line {first + 1}; align the two")


LAYOUT: tuple[Recogniser, ...] = (
    _list_in_a_line,
    _text_of_lines,
    _below_braces,
    _no_colon,
    _value_in_a_value,
    _no_minus,
    _other_indentation,
)
