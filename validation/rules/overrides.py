"""Read values from `overrides`, which may have any shape; unexpected shapes are treated as missing."""

from collections.abc import Iterator, Mapping

Members = Mapping[str, object]


def member(value: object, *names: str) -> object:
    """Return the value at these nested names, or None."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def text(value: object, *names: str) -> str:
    """Return the text at these nested names, or an empty text."""
    found = member(value, *names)
    return found if isinstance(found, str) else ""


def number(value: object, *names: str) -> int | None:
    """Return the whole number at these nested names, or None."""
    found = member(value, *names)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def items(value: object, *names: str) -> Iterator[tuple[int, object]]:
    """Yield the indexed entries of the list at these nested names."""
    found = member(value, *names)
    return enumerate(found if isinstance(found, list) else [])
