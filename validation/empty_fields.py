"""Report optional fields without a value, which YAML reads as `null`."""

from collections.abc import Iterator, Mapping
from typing import Any

from config.errors import Path, Problem
from config.fields import keyed_section, section_of
from config.section import Section


def empty_fields(
    content: Mapping[str, Any], section: type[Section], spelling: Mapping[Path, str], at: Path = ()
) -> Iterator[Problem]:
    """Yield optional fields with nothing after the colon; the model reports required ones."""
    for name in content.keys() & section.model_fields.keys():
        field, value, path = section.model_fields[name], content[name], (*at, name)
        below = section_of(field.annotation)
        if value is None and spelling.get(path) == "" and not field.is_required() and field.get_default() is None:
            yield Problem(path, None, *_parts(below), rule="type")
        elif below:
            for place, each in _sections_in(value, path, is_keyed=keyed_section(field.annotation) is not None):
                yield from empty_fields(each, below, spelling, place)


def _sections_in(value: object, path: Path, *, is_keyed: bool) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the section of a field, or those in its list or mapping, with their paths."""
    if isinstance(value, dict) and not is_keyed:
        yield path, value
    entries = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) and is_keyed else ()
    yield from (((*path, key), each) for key, each in entries if isinstance(each, dict))


def _parts(section: type[Section] | None) -> tuple[str, str]:
    """Return the message and its fix."""
    if section is None:
        return "has no value", "add one after the colon, or remove this line"
    needed = [name for name, field in section.model_fields.items() if field.is_required()]
    if needed:
        return "section is empty", f"add {', '.join(needed)} below it, or remove this line"
    return "section is empty", "use {} for the defaults, or remove this line"
