"""The `overrides` that make a file's request equal to the original."""

from collections.abc import Mapping
from typing import Any


def overrides(wanted: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    """Return the difference that, merged over ``ours``, gives ``wanted``; null removes a member."""
    found: dict[str, Any] = {name: None for name in ours if name not in wanted}
    for name, value in wanted.items():
        have = ours.get(name)
        if name not in ours:
            found[name] = value
        elif isinstance(value, Mapping) and isinstance(have, Mapping):
            if below := overrides(value, have):
                found[name] = below
        elif value != have:
            found[name] = value
    return found
