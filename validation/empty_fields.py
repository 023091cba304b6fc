"""Report optional fields without a value, which YAML reads as `null`."""

from collections.abc import Iterator, Mapping
from typing import Any

from config.errors import Path, Problem
from config.fields import section_of
from config.section import Section


def empty_fields(
    content: Mapping[str, Any], section: type[Section], spelling: Mapping[Path, str], at: Path = ()
) -> Iterator[Problem]:
    """Yield optional fields with nothing after the colon; the model reports required ones."""
    for name in content.keys() & section.model_fields.keys():
        field, value, path = section.model_fields[name], content[name], (*at, name)
        below = section_of(field.annotation)
        if value is None and spelling.get(path) == "" and not field.is_required() and field.get_default() is None:
            yield Problem(path, None, _message(below), "type")
        elif below and isinstance(value, dict):
            yield from empty_fields(value, below, spelling, path)
        elif below and isinstance(value, list):
            for index, each in enumerate(value):
                if isinstance(each, dict):
                    yield from empty_fields(each, below, spelling, (*path, index))


def _message(section: type[Section] | None) -> str:
    if section is None:
        return "has no value; add one after the colon, or remove this line"
    needed = [name for name, field in section.model_fields.items() if field.is_required()]
    if needed:
        return f"section is empty; add {', '.join(needed)} below it, or remove this line"
    return "section is empty; use {} for the defaults, or remove this line"
