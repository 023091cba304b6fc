"""Render the chart of a cluster file."""

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cluster_request.helm_chart.manifests import Json, hook_of, name_of, objects_in
from cluster_request.helm_chart.program import template
from config.eks import EksConfig


class Rendered(NamedTuple):
    """The objects of a chart, and those that only Helm would create, at certain times of a release."""

    objects: tuple[Json, ...]
    hooks: tuple[Json, ...]


def rendered(eks: EksConfig) -> Rendered | None:
    """Return the chart of the section, or None without one; raise HelmError if it cannot be rendered."""
    key = _key(eks)
    return _rendered(*key) if key else None


def random_objects(eks: EksConfig) -> list[str]:
    """Return the names of the objects that another rendering changes."""
    key = _key(eks)
    return sorted(set(_changed(_rendered(*key), _rendered.__wrapped__(*key)))) if key else []


def _key(eks: EksConfig) -> tuple[Path, str, str | None] | None:
    chart = eks.helm_chart
    return (chart.folder, json.dumps(chart.values, sort_keys=True), eks.version) if chart else None


def _changed(first: Rendered, again: Rendered) -> Iterator[str]:
    for one, other in ((first, again), (again, first)):
        yield from (name_of(item) for item in one.objects if item not in other.objects)


@functools.lru_cache(maxsize=16)
def _rendered(folder: Path, values: str, version: str | None) -> Rendered:
    """Render once for all rules and the template."""
    objects = objects_in(template(folder, json.loads(values), version))
    hooks = tuple(item for item in objects if hook_of(item))
    return Rendered(tuple(item for item in objects if not hook_of(item)), hooks)
