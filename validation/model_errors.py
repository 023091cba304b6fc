"""Says what pydantic found in the user's words, with a remedy."""

import re
from collections.abc import Iterator, Mapping, Sequence

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from config.errors import ABSENT, Path, Problem
from config.instance_types import listed_types
from config.secret_values import is_secret
from config.section import Section
from config.suggestions import either, like, nearest
from config.zones import region_of_name, regions, zone_remedy
from validation.fields import field_at, section_at, section_of
from validation.fixes import remedy
from validation.patterns import in_words, repaired, written
from validation.synonyms import field_meant, meant
from validation.unknown_fields import misplaced

# What is wrong, by pydantic's type of error; the values in braces come from its context.
_WRONG = {
    "string_type": "must be text",
    "int_type": "must be a whole number, without quotes",
    "bool_type": "must be true or false, without quotes",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "model_type": "must be a section, its fields indented below it",
    "dict_type": "must be a mapping, its `key: value` lines indented below it",
    "tuple_type": "must be a list, in [ ] or with a - before each entry",
    "too_short": "must have at least {min_length} entries",
    "too_long": "must have at most {max_length} entries",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
}


# The rule by pydantic's type of error; what is not here is of the wrong type.
RULE_OF = {
    "missing": "missing-field",
    "extra_forbidden": "unknown-field",
    "enum": "choice",
    "string_pattern_mismatch": "pattern",
    "value_error": "form",
    **dict.fromkeys(
        ("greater_than_equal", "less_than_equal", "too_short", "too_long", "string_too_short", "string_too_long"), "bounds"
    ),
}


def problems_of(error: ValidationError, model: type[Section], spelling: Mapping[Path, str]) -> Iterator[Problem]:
    """Every problem that ``error`` holds; ``spelling`` tells how the file spells a value."""
    details = error.errors(include_url=False)
    for told, explained in misplaced(details, model):
        yield told
        details = [detail for detail in details if detail not in explained]
    misspelled = set(_misspelled(details))
    for detail in details:
        if _follows_from_its_entries(detail) or (detail["type"] == "missing" and detail["loc"] in misspelled):
            continue
        value = ABSENT if detail["type"] == "missing" else detail["input"]
        yield Problem(detail["loc"], value, _message(detail, model, spelling), RULE_OF.get(detail["type"], "type"))


def _misspelled(details: Sequence[ErrorDetails]) -> Iterator[Path]:
    """The fields that are missing only because the file has them under another name: that is told of the name."""
    missing = [detail["loc"] for detail in details if detail["type"] == "missing"]
    for detail in details:
        if detail["type"] == "extra_forbidden":
            *section, word = detail["loc"]
            beside = {str(path[-1]): path for path in missing if path[:-1] == tuple(section)}
            yield from (beside[name] for name in like(word, beside)[:1])


def _follows_from_its_entries(detail: ErrorDetails) -> bool:
    """Tell whether a list is called too short only because pydantic does not count the entries that are wrong."""
    given = detail["input"]
    return detail["type"] == "too_short" and isinstance(given, list) and len(given) >= detail["ctx"]["min_length"]


def _message(detail: ErrorDetails, model: type[Section], spelling: Mapping[Path, str]) -> str:  # noqa: PLR0911  one per kind
    """What is wrong, and the remedy."""
    match detail["type"]:
        case "missing":
            return f"is required; add it: {_hint(detail, model)}{_with(_field(detail, model))}"
        case "extra_forbidden":
            return _unknown(detail["loc"], model)
        case "enum":
            return _no_choice(detail)
        case "string_type" if isinstance(detail["input"], bool | int | float):
            return _unquoted(detail, spelling)
        case "value_error":
            return str(detail["ctx"]["error"])
        case "string_pattern_mismatch":
            return _mismatch(detail, model, spelling)
        case _:
            return f"{_wrong(detail)}; {remedy(detail, _field(detail, model)) or _hint(detail, model)}"


def _with(field: FieldInfo | None) -> str:
    """What a section that is missing has to hold."""
    section = section_of(field.annotation) if field else None
    needed = [f"`{name}`" for name, each in section.model_fields.items() if each.is_required()] if section else []
    return f", with {' and '.join([', '.join(needed[:-1]), needed[-1]] if needed[1:] else needed)}" if needed else ""


def _no_choice(detail: ErrorDetails) -> str:
    """What there is to choose from, and what may have been meant."""
    names = [part for part in detail["loc"] if isinstance(part, str)]
    choices = [word.strip("' ") for word in detail["ctx"]["expected"].replace(" or ", ", ").split(",")]
    ours = meant(names[-1], detail["input"])
    return f"must be {detail['ctx']['expected']}; {f'did you mean {ours}?' if ours else nearest(detail['input'], choices)}"


def _unquoted(detail: ErrorDetails, spelling: Mapping[Path, str]) -> str:
    kind = "a word that YAML reads as true or false" if isinstance(detail["input"], bool) else "a number in YAML"
    text = spelling.get(detail["loc"]) or detail["input"]
    return f"is {kind}, not text; " + ("put it in quotes" if is_secret(detail["loc"]) else f'quote it: "{text}"')


def _mismatch(detail: ErrorDetails, model: type[Section], spelling: Mapping[Path, str]) -> str:
    """What the field's pattern asks for, and the value that may have been meant."""
    value, pattern = detail["input"], detail["ctx"]["pattern"]
    better = repaired(value, pattern)
    if detail["loc"][-1] == "availability_zone_id" and better is None:
        named, given = region_of_name(value), spelling.get(("region",))
        wrong = "is a zone's name, which differs from account to account, and not its id" if named else in_words(pattern)
        return f"{wrong}; {zone_remedy(value, given if given in regions() else named)}"
    quoted = f'"{better}"' if better and re.fullmatch("[0-9.]+", better) else better  # YAML would read a number
    if instead := _not_filled_in(detail, model):
        return f"{in_words(pattern)}; {instead}"
    likely = f"did you mean {quoted}{_prefix(detail)}?" if better else _similar(detail)
    return f"{in_words(pattern)}; {likely or written(pattern) or _hint(detail, model)}"


def _not_filled_in(detail: ErrorDetails, model: type[Section]) -> str | None:
    """What to do where a value is still to come: a variable that nothing replaces, or no text at all."""
    if re.search(r"\$[({]?\w|\{\{", detail["input"]):
        return "write the value itself, as nothing fills in variables here"
    field = _field(detail, model)
    is_left_out = not detail["input"].strip() and field is not None and not field.is_required()
    return "write some, or remove this line" if is_left_out else None


def _prefix(detail: ErrorDetails) -> str:
    """What goes with a bucket that is given with a folder in it."""
    folder = detail["input"].removeprefix("s3://").partition("/")[2].strip("/")
    return f", with `prefix: {folder}` beside it" if detail["loc"][-1] == "bucket" and folder else ""


def _similar(detail: ErrorDetails) -> str | None:
    """The region or the instance type that may have been meant."""
    known = {"region": regions, "instance_type": listed_types}.get(str(detail["loc"][-1]))
    names = like(detail["input"], known()) if known else []
    return f"did you mean {either(names)}?" if names else None


def _wrong(detail: ErrorDetails) -> str:
    if template := _WRONG.get(detail["type"]):
        said = template.format(**detail.get("ctx", {}))
        return said.replace(" 1 entries", " one entry").replace(" 1 characters", " one character")
    return detail["msg"][:1].lower() + detail["msg"][1:]


def _unknown(path: Path, model: type[Section]) -> str:
    section = section_at(model, path)
    known = section.model_fields.keys() - ({"name"} if section is model else set()) if section else set()
    ours = field_meant(path[-1], known)
    return f"there is no field of this name; {f'did you mean {ours}?' if ours else nearest(path[-1], known)}"


def _field(detail: ErrorDetails, model: type[Section]) -> FieldInfo | None:
    """The field that is wrong, but not for an entry of a mapping, which has none of its own."""
    last = max(index for index, part in enumerate(detail["loc"]) if isinstance(part, str))
    section = section_at(model, detail["loc"][: last + 1])
    return section.model_fields.get(str(detail["loc"][last])) if section else None


def _hint(detail: ErrorDetails, model: type[Section]) -> str:
    """What the field is, in its own words."""
    field = field_at(model, detail["loc"])
    return field.description if field and field.description else "see docs/reference/configuration.md"
