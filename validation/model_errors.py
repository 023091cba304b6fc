"""Turn pydantic's errors into problems with a fix."""

import re
from collections.abc import Iterator, Mapping, Sequence

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from config.errors import ABSENT, Path, Problem
from config.fields import field_at, section_at, section_of
from config.instance_types import listed_types
from config.network import ZONE_ID
from config.secret_values import is_secret
from config.section import Section
from config.suggestions import either, like, nearest
from config.zones import region_of_name, regions, zone_fix
from validation.fixes import fix_for
from validation.patterns import corrected, fallback_fix, in_words
from validation.synonyms import field_meant, meant
from validation.unknown_fields import UNKNOWN, misplaced_fields

# The problem for each of pydantic's error types.
_WRONG = {
    "string_type": "must be text",
    "int_type": "must be a whole number, without quotes",
    "float_type": "must be a number, without quotes",
    "bool_type": "must be true or false, without quotes",
    "greater_than_equal": "too small",
    "less_than_equal": "too large",
    "model_type": "must be a section with indented fields",
    "dict_type": "must be a mapping with indented `key: value` lines",
    "tuple_type": "must be a list, in [ ] or with - before each entry",
    "too_short": "too few entries",
    "too_long": "too many entries",
    "string_too_short": "too short",
    "string_too_long": "too long",
}


# The rule for each of pydantic's error types; all others are `type`.
RULE_OF = {
    "missing": "missing-field",
    "extra_forbidden": "unknown-field",
    "enum": "choice",
    "string_pattern_mismatch": "pattern",
    "value_error": "format",
    **dict.fromkeys(
        ("greater_than_equal", "less_than_equal", "too_short", "too_long", "string_too_short", "string_too_long"), "bounds"
    ),
}


def problems_of(error: ValidationError, model: type[Section], spelling: Mapping[Path, str]) -> Iterator[Problem]:
    """Yield every problem in ``error``; ``spelling`` is how the file spells each value."""
    details = [_of_its_key(detail) for detail in error.errors(include_url=False)]
    for problem, explained in misplaced_fields(details, model):
        yield problem
        details = [detail for detail in details if detail not in explained]
    misspelled = set(_misspelled(details))
    for detail in details:
        if _has_only_invalid_entries(detail) or (detail["type"] == "missing" and detail["loc"] in misspelled):
            continue
        value = ABSENT if detail["type"] == "missing" else detail["input"]
        yield Problem(detail["loc"], value, *_parts(detail, model, spelling), rule=RULE_OF.get(detail["type"], "type"))


def _of_its_key(detail: ErrorDetails) -> ErrorDetails:
    """Locate an invalid key of a mapping where the file has it."""
    return {**detail, "loc": detail["loc"][:-1]} if detail["loc"][-1:] == ("[key]",) else detail


def _misspelled(details: Sequence[ErrorDetails]) -> Iterator[Path]:
    """Yield missing fields that the file has under a misspelled name; only the name is reported."""
    missing = [detail["loc"] for detail in details if detail["type"] == "missing"]
    for detail in details:
        if detail["type"] == "extra_forbidden":
            *section, word = detail["loc"]
            siblings = {str(path[-1]): path for path in missing if path[:-1] == tuple(section)}
            yield from (siblings[name] for name in like(word, siblings)[:1])


def _has_only_invalid_entries(detail: ErrorDetails) -> bool:
    """Return whether a list is too short only because pydantic does not count invalid entries."""
    given = detail["input"]
    return detail["type"] == "too_short" and isinstance(given, list) and len(given) >= detail["ctx"]["min_length"]


def _parts(detail: ErrorDetails, model: type[Section], spelling: Mapping[Path, str]) -> tuple[str, str]:  # noqa: PLR0911
    """Return the problem and its fix."""
    match detail["type"]:
        case "missing":
            return "required", f"add it: {_hint(detail, model)}{_with(_field(detail, model))}"
        case "extra_forbidden":
            return _unknown(detail["loc"], model)
        case "enum":
            return _choice(detail)
        case "string_type" if isinstance(detail["input"], bool | int | float):
            return _unquoted(detail, spelling)
        case "value_error":
            message, fix = (*map(str, detail["ctx"]["error"].args), "")[:2]
            return message, fix
        case "string_pattern_mismatch":
            return _format(detail, model, spelling)
        case _:
            return _wrong(detail), fix_for(detail, _field(detail, model)) or _hint(detail, model)


def _with(field: FieldInfo | None) -> str:
    """List the required fields of a missing section."""
    section = section_of(field.annotation) if field else None
    needed = [f"`{name}`" for name, each in section.model_fields.items() if each.is_required()] if section else []
    return f", with {' and '.join([', '.join(needed[:-1]), needed[-1]] if needed[1:] else needed)}" if needed else ""


def _choice(detail: ErrorDetails) -> tuple[str, str]:
    """List the choices, and suggest one."""
    names = [part for part in detail["loc"] if isinstance(part, str)]
    choices = [word.strip("' ") for word in detail["ctx"]["expected"].replace(" or ", ", ").split(",")]
    ours = meant(names[-1], detail["input"])
    fix = f"did you mean {ours}?" if ours else nearest(detail["input"], choices)
    return "unknown value" if fix.startswith("use ") else f"must be {detail['ctx']['expected']}", fix


def _unquoted(detail: ErrorDetails, spelling: Mapping[Path, str]) -> tuple[str, str]:
    kind = "a boolean in YAML" if isinstance(detail["input"], bool) else "a number in YAML"
    text = spelling.get(detail["loc"]) or detail["input"]
    return f"must be text, but is {kind}", "put it in quotes" if is_secret(detail["loc"]) else f'quote it: "{text}"'


def _format(detail: ErrorDetails, model: type[Section], spelling: Mapping[Path, str]) -> tuple[str, str]:
    """Describe the format, and suggest a value."""
    value, pattern = detail["input"], detail["ctx"]["pattern"]
    better = corrected(value, pattern)
    if pattern == ZONE_ID and better is None:
        named, given = region_of_name(value), spelling.get(("region",))
        wrong = "must be a zone id, not a zone name, which differs between accounts" if named else in_words(pattern)
        return wrong, zone_fix(value, given if given in regions() else named)
    quoted = f'"{better}"' if better and re.fullmatch("[0-9.]+", better) else better  # YAML would read a number
    if instead := _not_filled_in(detail, model):
        return in_words(pattern), instead
    likely = f"did you mean {quoted}{_prefix(detail)}?" if better else _similar(detail)
    return in_words(pattern), likely or fallback_fix(pattern) or _hint(detail, model)


def _not_filled_in(detail: ErrorDetails, model: type[Section]) -> str | None:
    """Return the fix for an empty value or an unreplaced variable."""
    if re.search(r"\$[({]?\w|\{\{", detail["input"]):
        return "variables are not replaced, write the value itself"
    field = _field(detail, model)
    is_left_out = not detail["input"].strip() and field is not None and not field.is_required()
    return "set a value, or remove this line" if is_left_out else None


def _prefix(detail: ErrorDetails) -> str:
    """Suggest the prefix for a bucket with a path."""
    folder = detail["input"].removeprefix("s3://").partition("/")[2].strip("/")
    return f", with `prefix: {folder}` beside it" if detail["loc"][-1] == "bucket" and folder else ""


def _similar(detail: ErrorDetails) -> str | None:
    """Suggest a region or an instance type."""
    known = {"region": regions, "instance_type": listed_types}.get(str(detail["loc"][-1]))
    names = like(detail["input"], known()) if known else []
    return f"did you mean {either(names)}?" if names else None


def _wrong(detail: ErrorDetails) -> str:
    return _WRONG.get(detail["type"]) or detail["msg"][:1].lower() + detail["msg"][1:]


def _unknown(path: Path, model: type[Section]) -> tuple[str, str]:
    section = section_at(model, path)
    known = section.model_fields.keys() - ({"name"} if section is model else set()) if section else set()
    ours = field_meant(path[-1], known)
    return UNKNOWN, f"did you mean {ours}?" if ours else nearest(path[-1], known)


def _field(detail: ErrorDetails, model: type[Section]) -> FieldInfo | None:
    """Return the wrong field; None for an entry of a mapping."""
    last = max(index for index, part in enumerate(detail["loc"]) if isinstance(part, str))
    section = section_at(model, detail["loc"][: last + 1])
    return section.model_fields.get(str(detail["loc"][last])) if section else None


def _hint(detail: ErrorDetails, model: type[Section]) -> str:
    """Return the field's description."""
    field = field_at(model, detail["loc"])
    return field.description if field and field.description else "see docs/reference/configuration.md"
