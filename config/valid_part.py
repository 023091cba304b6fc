"""What of a cluster file is right although the rest is not, so that all that is wrong is told at once."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from config.errors import Problem
from config.instance_group import InstanceGroup
from config.model import ClusterConfig
from config.network import NetworkConfig
from config.request import request_problems

FIELDS = ClusterConfig.model_fields
# Stand in where the request is checked: whatever is wrong with these, the rest of it does not depend on them.
SAMPLES: Mapping[str, object] = {"name": "cluster", "network": NetworkConfig(availability_zone_id="usw2-az4")}


@dataclass(frozen=True)
class ValidPart:
    """A cluster of what is valid by itself; what is not has its default, or is missing where there is none."""

    config: ClusterConfig
    fields: Set[str]
    # The places in the file of the groups that are valid by themselves, with these.
    groups: Mapping[int, InstanceGroup]

    def request_problems(self) -> Iterator[Problem]:
        """What the service would refuse of a request with the valid groups and the valid rest."""
        if not self.groups:
            return
        places = list(self.groups)
        missing = {name: value for name, value in SAMPLES.items() if name not in self.fields}
        groups = {"instance_groups": tuple(self.groups.values())}
        for problem in request_problems(self.config.model_copy(update={**missing, **groups})):
            match problem.path:
                case ("instance_groups", int(index), *rest):
                    yield replace(problem, path=("instance_groups", places[index], *rest))
                case _:
                    yield problem


def valid_part(content: Mapping[str, Any], context: Mapping[str, Path]) -> ValidPart:
    """The part of the file that is valid; ``context`` is what the models are given to validate with."""
    values: dict[str, Any] = {}
    for name, field in FIELDS.items():
        try:
            values[name] = (
                _validated(field.rebuild_annotation(), content[name], context) if name in content else field.get_default()
            )
        except ValidationError:
            continue
    valid = {name for name in values if name in content or not FIELDS[name].is_required()}
    given = content.get("instance_groups")
    return ValidPart(
        ClusterConfig.model_construct(**values), valid, dict(_groups(given if isinstance(given, list) else [], context))
    )


def _groups(given: list[Any], context: Mapping[str, Path]) -> Iterator[tuple[int, InstanceGroup]]:
    for index, each in enumerate(given):
        try:
            yield index, _validated(InstanceGroup, each, context)
        except ValidationError:
            continue


def _validated(annotation: Any, value: object, context: Mapping[str, Path]) -> Any:
    return TypeAdapter(annotation).validate_python(value, context=dict(context))
