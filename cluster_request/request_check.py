"""Check a request against the service model: names, types, required members, enums, patterns, limits."""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import cache

import regex

from cluster_request.request_forms import wrong_form
from cluster_request.service_model import Shape, group_shape, input_shape, shape
from config.errors import ABSENT, Path, Problem
from config.instance_types import is_plausible_type
from config.suggestions import nearest

# The service adds values to this enum after the pinned model, and the client does not check it. A plausible name is therefore
# only a warning (known-instance-type). Other names are errors: another format, or a known family with an unknown size.
EXTENSIBLE_ENUMS: dict[str, Callable[[str], bool]] = {"ClusterInstanceType": is_plausible_type}


def check_request(request: Mapping[str, object], operation: str = "CreateCluster") -> list[Problem]:
    """Return every problem in ``request`` that the operation would reject, by the member's path."""
    return list(_walk(input_shape(operation), request, ()))


def _walk(name: str, value: object, path: Path) -> Iterator[Problem]:
    model = shape(name)
    expected, fits = _TYPES[model["type"]]
    if not fits(value):
        yield Problem(path, value, f"must be {expected}", _fix(model, value), rule="request.type")
        return
    could_be_new = isinstance(value, str) and name in EXTENSIBLE_ENUMS and EXTENSIBLE_ENUMS[name](value)
    yield from _bounds(name, {**model, "enum": []} if could_be_new else model, value, path)
    match model["type"]:
        case "structure" if isinstance(value, Mapping):
            yield from _structure(name, model, value, path)
        case "list" if isinstance(value, list | tuple):
            for index, item in enumerate(value):
                yield from _walk(model["member"]["shape"], item, (*path, index))
        case "map" if isinstance(value, Mapping):
            for key, item in value.items():
                yield from _walk(model["key"]["shape"], key, (*path, key))
                yield from _walk(model["value"]["shape"], item, (*path, key))


def _structure(name: str, model: Shape, value: Mapping[str, object], path: Path) -> Iterator[Problem]:
    members: dict[str, Shape] = model["members"]
    for key, item in value.items():
        if key in members:
            yield from _walk(members[key]["shape"], item, (*path, key))
        else:
            yield _unknown(name, key, item, path)
    for key in model.get("required", ()):
        if key not in value:
            yield Problem((*path, key), ABSENT, f"required by {name}", "add it", rule="request.missing-member")
    if model.get("union") and len(value) != 1:
        yield Problem(path, dict(value), f"{name} requires exactly one of {', '.join(members)}", "set one", rule="request.union")


def unknown_null(name: str, value: Mapping[str, object], path: Path) -> Iterator[Problem]:
    """Yield unknown members that ``value`` removes by null."""
    members: dict[str, Shape] = shape(name)["members"]
    for key, item in value.items():
        if key not in members and item is None:
            yield _unknown(name, key, item, path)
        elif isinstance(item, Mapping) and key in members and shape(members[key]["shape"])["type"] == "structure":
            yield from unknown_null(members[key]["shape"], item, (*path, key))


def _unknown(name: str, key: str, item: object, path: Path) -> Problem:
    message = f"unknown member of {name}"
    fix = _where(name, key) or nearest(key, shape(name)["members"])
    return Problem((*path, key), item, message, fix, rule="request.unknown-member")


def _where(name: str, key: str) -> str | None:
    """Return where the member belongs, if a group has one of the cluster or vice versa."""
    cluster, group = input_shape("CreateCluster"), group_shape()
    if name == cluster and key in shape(group)["members"]:
        return "move it to the `overrides` of an instance group"
    return "move it to the `overrides` of the cluster" if name == group and key in shape(cluster)["members"] else None


def _bounds(name: str, model: Shape, value: object, path: Path) -> Iterator[Problem]:
    """Yield violations of the shape's size limits, pattern and choices."""
    wrong = list(_text(name, model, value, path)) if isinstance(value, str) else []
    yield from wrong
    if wrong or isinstance(value, bool):  # a wrong format explains a wrong length
        return
    size = value if isinstance(value, int | float) else len(value) if isinstance(value, str | list | tuple | Mapping) else None
    if size is None:
        return
    small, large, unit = _SIZE_WORDS["text" if isinstance(value, str) else "number" if size is value else "list"]
    if "min" in model and size < model["min"]:
        yield Problem(path, value, small, _range(model, unit), rule="request.bounds")
    if "max" in model and size > model["max"]:
        yield Problem(path, value, large, _range(model, unit), rule="request.bounds")


_SIZE_WORDS = {
    "number": ("too small", "too large", ""),
    "text": ("too short", "too long", " characters"),
    "list": ("too few entries", "too many entries", " entries"),
}


def _text(name: str, model: Shape, value: str, path: Path) -> Iterator[Problem]:
    choices = model.get("enum", [])
    if choices and value not in choices:
        yield Problem(path, value, "unknown value", nearest(value, choices), rule="request.choice")
    if "pattern" in model and not _pattern(model["pattern"]).fullmatch(value):
        yield Problem(path, value, *wrong_form(name, model["pattern"], value), rule="request.pattern")


def _range(model: Shape, unit: str) -> str:
    if "min" in model and "max" in model:
        return f"use {model['min']} to {model['max']}{unit}"
    limit = f"at least {model['min']}{unit}" if "min" in model else f"at most {model['max']}{unit}"
    return f"use {limit}".replace(" 1 entries", " one entry").replace(" 1 characters", " one character")


# Values that need no quotes, by type.
_PLAIN = {"integer": re.compile("-?[0-9]+"), "long": re.compile("-?[0-9]+"), "boolean": re.compile("true|false")}


def _fix(model: Shape, value: object) -> str:
    if model["type"] == "string" and isinstance(value, bool | int | float):
        return "quote it"
    if model["type"] == "structure":
        return f"the members are {', '.join(model['members']) or 'none: use {}'}"
    if isinstance(value, str):
        if model["type"] == "list":
            return f"write [{value.strip('[] ')}]"
        if (plain := _PLAIN.get(model["type"])) and plain.fullmatch(value):
            return f"write {value}, without quotes"
    if model["type"] == "list" and isinstance(value, Mapping):
        return "start each entry with a minus"
    return "correct the value"


# The service's patterns use \p{L}, which the standard library does not support.
@cache
def _pattern(text: str) -> "regex.Pattern[str]":
    return regex.compile(text)


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_time(value: object) -> bool:
    """Return whether the value is a timestamp: ISO 8601 text, or seconds since 1970."""
    if not isinstance(value, str):
        return _is_number(value)
    try:
        return datetime.fromisoformat(value) is not None
    except ValueError:
        return False


_TYPES: dict[str, tuple[str, Callable[[object], bool]]] = {
    "structure": ("a mapping", lambda value: isinstance(value, Mapping)),
    "map": ("a mapping", lambda value: isinstance(value, Mapping)),
    "list": ("a list", lambda value: isinstance(value, list | tuple)),
    "string": ("text", lambda value: isinstance(value, str)),
    "blob": ("text", lambda value: isinstance(value, str)),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "integer": ("a whole number", _is_whole),
    "long": ("a whole number", _is_whole),
    "float": ("a number", _is_number),
    "double": ("a number", _is_number),
    "timestamp": ("a time, like 2026-01-31T12:00:00Z", _is_time),
}
