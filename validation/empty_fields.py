"""Fields that a file names and gives nothing: YAML reads that as `null`, which looks like a choice and is a line half written."""

from collections.abc import Iterator, Mapping
from typing import Any

from config.errors import Path, Problem
from config.section import Section
from validation.fields import section_of


def empty_fields(
    content: Mapping[str, Any], section: type[Section], spelling: Mapping[Path, str], at: Path = ()
) -> Iterator[Problem]:
    """The fields with nothing behind their colon that could be left out; of the others, the model tells."""
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
        return "is empty; write its value behind the colon, or remove this line"
    needed = [name for name, field in section.model_fields.items() if field.is_required()]
    if needed:
        return f"is empty, and so there is none; write {', '.join(needed)} below it, or remove this line"
    return "is empty, and so there is none; write {} for one with defaults, or remove this line"
