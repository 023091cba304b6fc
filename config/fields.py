"""Find fields and sections of the model by path."""

from collections.abc import Iterator
from types import UnionType
from typing import Annotated, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from config.errors import Path
from config.section import Section


def inner_types(annotation: object) -> Iterator[object]:
    """Yield the types inside an annotation: X for ``tuple[X, ...] | None`` and ``dict[str, X]``."""
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from inner_types(get_args(annotation)[0])
    elif origin is dict and section_of(value := get_args(annotation)[1]):
        yield from inner_types(value)
    elif origin in (Union, UnionType, tuple):
        for part in get_args(annotation):
            if part not in (type(None), Ellipsis):
                yield from inner_types(part)
    else:
        yield annotation


def section_of(annotation: object) -> type[Section] | None:
    """Return the section type that a field holds, directly, in a list or in a mapping."""
    for inner in inner_types(annotation):
        if isinstance(inner, type) and issubclass(inner, Section):
            return inner
    return None


def keyed_section(annotation: object) -> type[Section] | None:
    """Return the section type of a mapping's values, whose keys are names that the user or the service chooses."""
    return section_of(annotation) if get_origin(annotation) is dict else None


def section_at(root: type[Section], path: Path) -> type[Section] | None:
    """Return the section that contains the last part of ``path``."""
    section: type[Section] | None = root
    is_key = False
    for part in path[:-1]:
        if is_key:
            is_key = False
        elif isinstance(part, str) and section is not None:
            field = section.model_fields.get(part)
            section = section_of(field.annotation) if field else None
            is_key = field is not None and keyed_section(field.annotation) is not None
    return None if is_key else section


def field_at(root: type[Section], path: Path) -> FieldInfo | None:
    """Return the field at ``path``, or the field that contains this entry."""
    names = [index for index, part in enumerate(path) if isinstance(part, str)]
    if not names:
        return None
    section = section_at(root, path[: names[-1] + 1])
    return section.model_fields.get(str(path[names[-1]])) if section else None
