"""Runs in Lambda. CloudFormation hands every scalar to a custom resource as a string; the service model says what it was."""

from typing import Any

NUMBERS = {"integer": int, "long": int, "float": float, "double": float}
FROM_ELSEWHERE = ("ClusterName",)
"""Required of a request, and not among the properties: it is worked out."""

BOOLEANS = {"true": True, "false": False}


class PropertyError(ValueError):
    """A property that the service model does not take."""


def typed(value: Any, shape: Any, path: str, *, strict: bool = True) -> Any:
    """``value`` with its scalars as ``shape`` (botocore's, which has no types) wants them.

    Unknown members are errors; without ``strict`` they stay as they are, for properties that another release wrote.
    """
    match shape.type_name:
        case "structure":
            return _structure(value, shape, path, strict=strict)
        case "list":
            items = _checked(value, list, "a list", path)
            return [typed(item, shape.member, f"{path}[{index}]", strict=strict) for index, item in enumerate(items)]
        case "map":
            entries = _checked(value, dict, "a mapping", path)
            return {key: typed(item, shape.value, f"{path}.{key}", strict=strict) for key, item in entries.items()}
        case _:
            return _scalar(value, shape.type_name, path)


def _structure(value: Any, shape: Any, path: str, *, strict: bool) -> Any:
    members = _checked(value, dict, "an object", path)
    unknown = sorted(members.keys() - shape.members.keys())
    if unknown and strict:
        known = ", ".join(shape.members)
        raise PropertyError(
            f"{path}.{unknown[0]} is no field of {shape.name} in the service model of this release, which has {known}; "
            "correct the name, or deploy a release with a newer model"
        )
    missing = [name for name in shape.required_members if name not in members and name not in FROM_ELSEWHERE]
    if missing and strict:
        raise PropertyError(f"{path}.{missing[0]} is required by {shape.name}; give it a value")
    return {
        name: typed(item, shape.members[name], f"{path}.{name}", strict=strict) if name in shape.members else item
        for name, item in members.items()
    }


def _scalar(value: Any, type_name: str, path: str) -> Any:
    if isinstance(value, (dict, list)):
        raise PropertyError(f"{path} must be a {type_name}, got {type(value).__name__}")
    if type_name == "boolean":
        text = str(value).lower()
        if text not in BOOLEANS:
            raise PropertyError(f"{path} must be true or false, got {value!r}")
        return BOOLEANS[text]
    if type_name in NUMBERS:
        try:
            return NUMBERS[type_name](value)
        except ValueError:
            raise PropertyError(f"{path} must be a number, got {value!r}") from None
    return str(value)


def _checked(value: Any, kind: type, words: str, path: str) -> Any:
    if not isinstance(value, kind):
        raise PropertyError(f"{path} must be {words}, got {value!r}")
    return value
