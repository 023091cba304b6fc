"""Extract the valid part of an invalid file, so that all problems are reported at once."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_origin

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from cluster_request.request import request_problems
from config.errors import Problem
from config.model import ClusterConfig
from config.network import NetworkConfig
from config.section import Section
from config.suggestions import like
from validation.entries import ValidEntries, numbered
from validation.fields import section_of

FIELDS = ClusterConfig.model_fields
# Replace invalid values in the request check; the rest of the request does not depend on them.
SAMPLES: Mapping[str, object] = {"name": "cluster", "network": NetworkConfig(availability_zone_id="usw2-az4")}

Content = Mapping[str, Any]
Context = Mapping[str, Path]
# Valid fields, as in the needs of a rule: `storage`, `storage.lustre`, and `users[]` for the valid entries of a list.
Valid = Set[str]
Values = dict[str, Any]


@dataclass(frozen=True)
class ValidPart:
    """A cluster of valid values; invalid ones have their default, or are missing."""

    config: ClusterConfig
    valid: Valid

    def request_problems(self) -> Iterator[Problem]:
        """Yield problems of the request for the valid groups and fields."""
        if not {"instance_groups", "instance_groups[]"} & self.valid or not self.config.instance_groups:
            return
        places = [place for place, _ in numbered(self.config.instance_groups)]
        missing = {name: value for name, value in SAMPLES.items() if name not in self.valid}
        for problem in request_problems(self.config.model_copy(update=missing)):
            match problem.path:
                case ("instance_groups", int(index), *rest):
                    yield replace(problem, path=("instance_groups", places[index], *rest))
                case _:
                    yield problem


def valid_part(content: Content, context: Context) -> ValidPart:
    """Return the valid part of the file; ``context`` is the validation context of the models."""
    values, valid = _of_section(ClusterConfig, content, context)
    return ValidPart(ClusterConfig.model_construct(**values), valid)


def _of_section(section: type[Section], content: Content, context: Context) -> tuple[Values, Valid]:
    """Return the valid values of a section and their names."""
    values: Values = {}
    valid: set[str] = set()
    names = section.model_fields
    # An unrecognizable field may be any of them.
    doubtful = {name for word in content.keys() - names.keys() for name in like(word, names) or names}
    for name, field in section.model_fields.items():
        if name in content:
            value, parts = _of_field(field, content[name], context)
            values |= {name: value} if parts else {}
            valid |= {f"{name}{part}" for part in parts}
        elif not field.is_required():
            values[name] = _default(field, context)
            valid |= {name} - doubtful  # a misspelled field was meant to have another value
    return values, valid


def _default(field: FieldInfo, context: Context) -> object:
    value = field.get_default()
    return _validated(field.rebuild_annotation(), value, context) if field.validate_default else value


def _of_field(field: FieldInfo, given: object, context: Context) -> tuple[Any, Valid]:
    """Return the field's value and its valid parts; an empty name means the whole field."""
    try:
        return _validated(field.rebuild_annotation(), given, context), {""}
    except ValidationError:
        section, is_list = section_of(field.annotation), get_origin(field.annotation) is tuple
    if section is not None and not is_list and isinstance(given, dict):
        values, valid = _of_section(section, given, context)
        return section.model_construct(**values), {f".{name}" for name in valid}
    if section is not None and is_list and isinstance(given, list):
        return ValidEntries.at(_entries(section, given, context)), {"[]"}
    return None, set()


def _entries(section: type[Section], given: list[Any], context: Context) -> Iterator[tuple[int, Section]]:
    for index, each in enumerate(given):
        try:
            yield index, _validated(section, each, context)
        except ValidationError:
            continue


def _validated(annotation: Any, value: object, context: Context) -> Any:
    return TypeAdapter(annotation).validate_python(value, context=dict(context))
