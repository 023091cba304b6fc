"""Read JSON files that other programs wrote; errors name the file and the problem."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hyperpod_node.errors import NodeError


def load_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in ``path``."""
    try:
        content = json.loads(path.read_text())
    except FileNotFoundError:
        raise NodeError(f"{path} is missing") from None
    except OSError as error:
        raise NodeError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise NodeError(f"{path} is not complete JSON: {error}") from None
    if not isinstance(content, dict):
        raise NodeError(f"{path} contains a {type(content).__name__}, not an object")
    return content


def required(content: dict[str, Any], key: str, path: Path | str) -> Any:
    """Return the value of ``key``; ``path`` may be a file or a position in a file, for errors."""
    if not isinstance(content, dict):
        raise NodeError(f"{path} is a {type(content).__name__}, not an object with {key!r}")
    if key not in content:
        raise NodeError(f"{path} has no {key!r}, only {sorted(content)}")
    return content[key]


def members(content: dict[str, Any], key: str, path: Path | str) -> list[tuple[str, str, Any]]:
    """Return the members of the object at ``key``: name, position for errors, and value."""
    value = required(content, key, path)
    if not isinstance(value, dict):
        raise NodeError(f"{path} has a {type(value).__name__} at {key!r}, not an object")
    return [(name, f"{path}, {key}.{name},", member) for name, member in value.items()]


def items(content: dict[str, Any], key: str, path: Path | str) -> list[tuple[str, Any]]:
    """Return the elements of the list at ``key``, each with its position for errors."""
    value = required(content, key, path)
    if not isinstance(value, list):
        raise NodeError(f"{path} has a {type(value).__name__} at {key!r}, not a list")
    return [(f"{path}, {key}[{index}],", element) for index, element in enumerate(value)]
