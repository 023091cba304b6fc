"""Check values in `overrides` like the fields that set the same members of the request."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from cluster_request.request import RESERVED_CLUSTER_MEMBERS, RESERVED_GROUP_MEMBERS
from cluster_request.request_fields import ENTRY, GROUPS, TRANSFORMED, Names, request_fields
from config.errors import Path, Problem
from config.section import Section
from validation.model_errors import problems_of

RESERVED = {*RESERVED_CLUSTER_MEMBERS, *RESERVED_GROUP_MEMBERS}

Content = Mapping[str, Any]


def override_problems(
    content: Content, model: type[Section], spelling: Mapping[Path, str], context: Mapping[str, object]
) -> Iterator[Problem]:
    """Yield the problems that a field would have with the value of an override, with the override's path."""
    for path, field, value in _overrides(content):
        try:
            model.model_validate(_file_with(field, value), context=dict(context))
        except ValidationError as error:
            for problem in problems_of(error, model, {field: spelling[path]} if path in spelling else {}):
                if problem.path[: len(field)] == field:
                    yield replace(problem, path=(*path, *problem.path[len(field) :]))


def _overrides(content: Content) -> Iterator[tuple[Path, Path, object]]:
    """Yield the path and the value of each override that a field can replace, and the field's path in a file of one group."""
    groups = content.get("instance_groups")
    for members, field in request_fields().items():
        if field in TRANSFORMED or (members[2] if members[:2] == GROUPS else members[0]) in RESERVED:
            continue
        first = ("instance_groups", 0, *field[1:]) if field[0] == "instance_groups" else field
        found = (
            _values(groups, (ENTRY, "overrides", *members[2:]), ("instance_groups",))
            if members[:2] == GROUPS
            else _values(content.get("overrides"), members, ("overrides",))
        )
        yield from ((path, first, value) for path, value in found)


def _values(value: object, names: Names, path: Path) -> Iterator[tuple[Path, object]]:
    """Yield the values at these names; null removes a member."""
    if not names:
        if value is not None:
            yield path, value
    elif names[0] == ENTRY:
        for index, entry in enumerate(value if isinstance(value, list) else []):
            yield from _values(entry, names[1:], (*path, index))
    elif isinstance(value, Mapping) and names[0] in value:
        yield from _values(value[names[0]], names[1:], (*path, names[0]))


def _file_with(field: Path, value: object) -> dict[str, Any]:
    """Return a file with only this field."""
    for part in reversed(field):
        value = [value] if part == 0 else {part: value}
    assert isinstance(value, dict)  # noqa: S101
    return value
