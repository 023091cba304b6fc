"""Extract the valid part of an invalid file, so that all problems are reported at once."""

import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_origin

from pydantic import TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from cluster_request.quotas import quota_problems
from cluster_request.request import request_problems
from config.eks import EksConfig, ExistingEks
from config.entries import ValidEntries, numbered
from config.errors import Problem
from config.fields import keyed_section, section_of
from config.model import ClusterConfig, model_of
from config.network import NetworkConfig
from config.section import Section
from config.suggestions import like

FIELDS = ClusterConfig.model_fields
# Replace invalid values in the request check; the rest of the request does not depend on them.
SAMPLES: Mapping[str, object] = {
    "name": "cluster",
    "network": NetworkConfig(availability_zone_id="usw2-az4"),
    "instance_groups": (),
}

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

    def without_groups(self, indexes: Set[object]) -> "ValidPart":
        """Return the part without the groups at these indexes in the file."""
        if not indexes or "instance_groups" not in self.config.__dict__:
            return self
        kept = ((index, group) for index, group in numbered(self.config.instance_groups) if index not in indexes)
        config = self.config.model_copy(update={"instance_groups": ValidEntries.at(kept)})
        return ValidPart(config, self.valid - {"instance_groups"} | {"instance_groups[]"})

    def without_fields(self, names: Set[str]) -> "ValidPart":
        """Return the part without these fields of the file."""
        return replace(self, valid={each for each in self.valid if re.split(r"[.\[]", each)[0] not in names})

    def for_request(self) -> ClusterConfig:
        """Return the cluster with sample values for what a request needs and the file does not set correctly."""
        needed = {"name": "name", "network": "network.existing", "instance_groups": "instance_groups[]"}
        missing = {name: SAMPLES[name] for name, field in needed.items() if not {name, field} & self.valid}
        config = self.config.model_copy(update=missing)
        if config.eks and config.eks.existing and not {"eks", "eks.existing", "eks.existing.name"} & self.valid:
            config = config.model_copy(update={"eks": config.eks.model_copy(update={"existing": ExistingEks(name="cluster")})})
        return config

    def request_problems(self) -> Iterator[Problem]:
        """Yield problems of the request for the valid groups and fields."""
        if {"instance_groups", "instance_groups[]"} & self.valid and self.config.instance_groups:
            yield from request_problems(self.for_request())
            yield from quota_problems(self.for_request())


def valid_part(content: Content, context: Context) -> ValidPart:
    """Return the valid part of the file; ``context`` is the validation context of the models."""
    model = model_of(content)
    values, valid = _of_section(model, content, context)
    if content.get("eks") is not None:
        values.setdefault("eks", EksConfig())  # the rules for Slurm do not apply to a file whose whole section is invalid
    return ValidPart(model.model_construct(_set_in(content, values), **values), valid)


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


def _set_in(content: Content, values: Values) -> set[str]:
    """Return the values that the file sets, as opposed to defaults."""
    return set(content.keys() & values.keys())


def _default(field: FieldInfo, context: Context) -> object:
    value = field.get_default()
    return _validated(field.rebuild_annotation(), value, context) if field.validate_default else value


def _of_field(field: FieldInfo, given: object, context: Context) -> tuple[Any, Valid]:
    """Return the field's value and its valid parts; an empty name means the whole field."""
    try:
        return _validated(field.rebuild_annotation(), given, context), {""}
    except ValidationError:
        section, is_list = section_of(field.annotation), get_origin(field.annotation) is tuple
    if keyed_section(field.annotation):
        return None, set()
    if section is not None and not is_list and isinstance(given, dict):
        values, valid = _of_section(section, given, context)
        return section.model_construct(_set_in(given, values), **values), {f".{name}" for name in valid}
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
