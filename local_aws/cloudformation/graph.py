"""The dependency graph of a template."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from local_aws.cloudformation.errors import TemplateError
from local_aws.cloudformation.template import Json

PLACEHOLDER = re.compile(r"\$\{([^!}][^}]*)\}")
Graph = dict[str, set[str]]


def references(value: Any) -> set[str]:
    """Return the names of resources, parameters and pseudo parameters that ``value`` refers to."""
    return {name for name, _ in uses(value)}


def uses(value: Any) -> Iterator[tuple[str, str | None]]:
    """Yield every reference in ``value``: the name, and the attribute (None for a Ref)."""
    if isinstance(value, list):
        for item in value:
            yield from uses(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _uses_of(key, item)


def _uses_of(key: str, item: Any) -> Iterator[tuple[str, str | None]]:
    if key == "Ref" and isinstance(item, str):
        yield item, None
    elif key == "Fn::GetAtt":
        parts = item.split(".", 1) if isinstance(item, str) else item
        if not isinstance(parts, list) or len(parts) != 2:
            raise TemplateError(f"Template error: every Fn::GetAtt requires a resource and an attribute, got {item}")
        name, attribute = parts
        yield name, attribute if isinstance(attribute, str) else "*"
        yield from uses(attribute)
    elif key == "Fn::Sub":
        yield from _uses_of_sub(item)
    else:
        yield from uses(item)


def _uses_of_sub(item: Any) -> Iterator[tuple[str, str | None]]:
    text, values = (item, {}) if isinstance(item, str) else item
    yield from uses(values)
    for placeholder in PLACEHOLDER.findall(text):
        name, _, attribute = placeholder.strip().partition(".")
        if placeholder not in values:
            yield name, attribute or None


def depends_on(definition: Json) -> set[str]:
    """Return the names in a resource's DependsOn."""
    names = definition.get("DependsOn") or []
    return {names} if isinstance(names, str) else set(names)


def dependencies(definitions: Mapping[str, Json]) -> Graph:
    """Return the direct dependencies of each resource."""
    names = set(definitions)
    return {
        name: (references(definition.get("Properties", {})) | depends_on(definition)) & names
        for name, definition in definitions.items()
    }


def reverse(graph: Graph) -> Graph:
    """Return the graph with every edge reversed."""
    turned: Graph = {name: set() for name in graph}
    for name, needs in graph.items():
        for need in needs:
            turned[need].add(name)
    return turned


def order(graph: Graph) -> list[str]:
    """Return the names in an order in which each comes after its dependencies."""
    ordered: dict[str, None] = {}
    for name in graph:
        _visit(graph, name, ordered, ())
    return list(ordered)


def _visit(graph: Graph, name: str, ordered: dict[str, None], path: tuple[str, ...]) -> None:
    if name in ordered:
        return
    if name in path:
        circle = path[path.index(name) :]
        raise TemplateError(f"Circular dependency between resources: [{', '.join(sorted(circle))}]")
    for need in sorted(graph[name]):
        _visit(graph, need, ordered, (*path, name))
    ordered[name] = None
