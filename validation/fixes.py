"""Suggest a value for one of the wrong type or out of bounds."""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from config.fields import inner_types, section_of
from config.secret_values import without_secrets
from config.suggestions import either

YES, NO = ("true", "yes", "on", "y", "1"), ("false", "no", "off", "n", "0")
# The longest text to suggest in brackets.
MAX_BRACKET_LENGTH = 60
# Larger bounds are not shown.
LARGEST_SHOWN = 10**9


def fix_for(detail: ErrorDetails, field: FieldInfo | None) -> str | None:
    """Return a fix for a wrong type or a value out of bounds."""
    found = _FIXES.get(detail["type"])
    return (found(without_secrets(detail["input"], detail["loc"]), field) if found else None) or _limit(detail)


def _limit(detail: ErrorDetails) -> str | None:
    """Return the exceeded limit, for fields whose bounds are not shown."""
    limits = detail.get("ctx", {})
    unit = "" if {"ge", "le"} & limits.keys() else " characters" if detail["type"].startswith("string") else " entries"
    for bound, words in (("ge", "at least"), ("le", "at most"), ("min_length", "at least"), ("max_length", "at most")):
        if bound in limits:
            return f"use {words} {limits[bound]}{unit}".replace(" 1 entries", " one entry")
    return None


def range_of(field: FieldInfo | None, least: str, most: str) -> tuple[int | None, int | None]:
    """Return the field's bounds: `ge` and `le`, or `min_length` and `max_length`."""
    metadata = field.metadata if field else []
    first = next((getattr(each, least) for each in metadata if getattr(each, least, None) is not None), None)
    last = next((getattr(each, most) for each in metadata if getattr(each, most, None) is not None), None)
    return first, last


def _is_shown(bounds: tuple[int | None, int | None]) -> bool:
    """Return whether the bounds are worth showing."""
    return bounds != (None, None) and (bounds[1] or 0) <= LARGEST_SHOWN


def _between(bounds: tuple[int | None, int | None]) -> str:
    first, last = bounds
    if first is None:
        return f"at most {last}"
    if last is None:
        return f"at least {first}"
    return f"exactly {first}" if first == last else f"{first} to {last}"


def _number(value: object, field: FieldInfo | None) -> str:
    plain = re.sub("[,_ ]", "", value) if isinstance(value, str) else ""
    if re.fullmatch("-?[0-9]+", plain):
        return f"write {int(plain)}"
    if re.fullmatch("0x[0-9a-fA-F]+", plain):
        return f"write {int(plain, 16)}"
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:  # exact up to there
        return f"write {int(value)}"
    bounds = range_of(field, "ge", "le")
    suffix = ", without a unit" if re.fullmatch("[0-9.]+[a-zA-Z]+", plain) else ""
    if _is_shown(bounds):
        return f"write a number in digits, {_between(bounds)}{suffix}"
    return f"write a number in digits{suffix}" + (f": {field.description}" if field else "")


def _switch(value: object, _: FieldInfo | None) -> str | None:
    word = str(value).strip().lower()
    return "write true" if word in YES else "write false" if word in NO else None


def _text(value: object, field: FieldInfo | None) -> str:
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        return f"write {value[0]} without brackets or minus"
    if value is None and field is not None:
        return f"set it: {field.description}" if field.is_required() else "set a value, or remove this line"
    return "write text, or remove this line"


def _section(value: object, field: FieldInfo | None) -> str:
    section = section_of(field.annotation) if field else None
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], Mapping):
        return "remove the minus before its first field"
    known = section.model_fields if section else {}
    needed = [f"`{name}`" for name, each in known.items() if each.is_required()]
    if needed:
        return f"add {', '.join(needed)}"
    return f"add {either(list(known))} below it, or remove this line" if known else "add its fields below it"


def _mapping(value: object, _: FieldInfo | None) -> str:
    match value:
        case [{"Key": key, "Value": held}, *_]:
            return f"write `{key}: {held}`"
        case [{**_only}]:
            return "remove the minus before its first line"
        case str() if "=" in value:
            name, text = value.split("=", 1)
            return f"write `{name.strip()}: {text.strip()}` on a line below it"
    return "write `name: value` on lines below it, or {} for none"


def _list(value: object, field: FieldInfo | None) -> str:
    if isinstance(value, Mapping):
        return "start each entry with a minus"
    if isinstance(value, str) and len(value) > MAX_BRACKET_LENGTH:
        return "put it on a line below, after a minus"
    if isinstance(value, str):
        return f"write [{', '.join(re.split(r'[, ]+', value.strip('()[] ')))}]"
    kinds = inner_types(field.annotation) if field else ()
    choices = [str(each) for kind in kinds if isinstance(kind, type) and issubclass(kind, StrEnum) for each in kind]
    if choices:
        return f"choose from [{', '.join(choices)}]"
    least, _ = range_of(field, "min_length", "max_length")
    return "write its entries below it, each with a minus" if least else "write its entries in [ ], or [] for none"


def _in_range(_: object, field: FieldInfo | None) -> str | None:
    bounds = range_of(field, "ge", "le")
    return f"use {_between(bounds)}" if _is_shown(bounds) else None


def _of_length(value: object, field: FieldInfo | None) -> str | None:
    bounds = range_of(field, "min_length", "max_length")
    unit = "characters" if isinstance(value, str) else "entries"
    return f"use {_between(bounds)} {unit}" if bounds != (None, None) else None


_FIXES: dict[str, Callable[[Any, FieldInfo | None], str | None]] = {
    "int_type": _number,
    "bool_type": _switch,
    "string_type": _text,
    "model_type": _section,
    "dict_type": _mapping,
    "tuple_type": _list,
    **dict.fromkeys(("greater_than_equal", "less_than_equal"), _in_range),
    **dict.fromkeys(("too_short", "too_long", "string_too_short", "string_too_long"), _of_length),
}
