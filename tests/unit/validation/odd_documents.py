"""Draw documents with random mistakes, for tests that no file causes a traceback."""

import copy
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Yield every path in the document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in items for place in places(item, (*path, key)))]


def change(draw: st.DrawFn, document: Any, odd: st.SearchStrategy[Any], names: Sequence[str]) -> None:
    """Replace a value by an odd one, remove or duplicate one, or add an odd one under one of the names."""
    *path, last = draw(st.sampled_from([place for place in places(document) if place]))
    parent = document
    for part in path:
        parent = parent[part]
    match draw(st.sampled_from(["replace", "remove", "add", "double"])):
        case "replace":
            parent[last] = copy.deepcopy(draw(odd))
        case "remove":
            del parent[last]
        case "add" if isinstance(parent, dict):
            parent[draw(st.sampled_from(names))] = copy.deepcopy(draw(odd))
        case "double" if isinstance(parent, list):
            parent.append(copy.deepcopy(parent[last]))
