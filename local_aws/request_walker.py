"""Validate requests against botocore's service model, with the error texts of AWS's services."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import botocore.session
import regex
from botocore.model import Shape

from local_aws.errors import AwsError

# JSON types of the values of each model type.
_TYPES: dict[str, tuple[type, ...]] = {
    "structure": (dict,),
    "map": (dict,),
    "list": (list,),
    "string": (str,),
    "integer": (int,),
    "long": (int,),
    "boolean": (bool,),
    "timestamp": (int, float, str),
    "float": (int, float),
    "double": (int, float),
}


def check(service: str, operation: str, request: object) -> None:
    """Refuse, as the service does, a request that does not match the operation's model."""
    problems = list(_problems(_input_shape(service, operation), request, ""))
    if not problems:
        return
    plural = "s" if len(problems) > 1 else ""
    raise AwsError("ValidationException", f"{len(problems)} validation error{plural} detected: {'; '.join(problems)}")


def problems(service: str, operation: str, member: str, value: object) -> list[str]:
    """Return how a value does not match the model of a request's member."""
    shape = _input_shape(service, operation).members[member]
    return list(_problems(shape, value, _member("", member)))


@cache
def _input_shape(service: str, operation: str) -> Shape:
    model = botocore.session.get_session().get_service_model(service)
    return model.operation_model(operation).input_shape


def _problems(shape: Shape, value: object, path: str) -> Iterator[str]:
    expected = _TYPES[shape.type_name]
    if not isinstance(value, expected) or (isinstance(value, bool) and bool not in expected):
        yield _problem(value, path, f"Member must be of type {shape.type_name}")
        return
    inner = _INNER.get(shape.type_name)
    if inner:
        yield from inner(shape, value, path)
    yield from _bounds(shape, value, path)


def _structure(shape: Any, value: Any, path: str) -> Iterator[str]:
    for name in shape.required_members:
        if value.get(name) is None:
            yield _problem(None, _member(path, name), "Member must not be null")
    for name, item in value.items():
        if name not in shape.members:
            yield _problem(item, _member(path, name), f"Member must be one of [{', '.join(shape.members)}]")
        elif item is not None:
            yield from _problems(shape.members[name], item, _member(path, name))


def _list(shape: Any, value: Any, path: str) -> Iterator[str]:
    for number, item in enumerate(value, 1):
        yield from _problems(shape.member, item, f"{path}.{number}.member")


def _map(shape: Any, value: Any, path: str) -> Iterator[str]:
    for key, item in value.items():
        yield from _problems(shape.key, key, f"{path}.{key}.key")
        yield from _problems(shape.value, item, f"{path}.{key}.value")


_INNER: dict[str, Callable[[Any, Any, str], Iterator[str]]] = {"structure": _structure, "list": _list, "map": _map}


def _bounds(shape: Shape, value: Any, path: str) -> Iterator[str]:
    rules = shape.metadata
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    what, size = ("value", value) if is_number else ("length", len(value) if hasattr(value, "__len__") else 0)
    if "min" in rules and size < rules["min"]:
        yield _problem(value, path, f"Member must have {what} greater than or equal to {rules['min']}")
    if "max" in rules and size > rules["max"]:
        yield _problem(value, path, f"Member must have {what} less than or equal to {rules['max']}")
    if "enum" in rules and value not in rules["enum"]:
        yield _problem(value, path, f"Member must satisfy enum value set: [{', '.join(rules['enum'])}]")
    if "pattern" in rules and isinstance(value, str) and not _pattern(rules["pattern"]).fullmatch(value):
        yield _problem(value, path, f"Member must satisfy regular expression pattern: {rules['pattern']}")


@cache
def _pattern(text: str) -> Any:
    return regex.compile(text)


def _member(path: str, name: str) -> str:
    name = name[:1].lower() + name[1:]
    return f"{path}.{name}" if path else name


def _problem(value: object, path: str, constraint: str) -> str:
    shown = "null" if value is None else f"'{value}'"
    return f"Value {shown} at '{path}' failed to satisfy constraint: {constraint}"
