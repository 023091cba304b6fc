"""Looks into `overrides`, which can hold anything: what is not as expected there is not found."""

from collections.abc import Iterator, Mapping

Members = Mapping[str, object]


def member(value: object, *names: str) -> object:
    """What is there under these names, one below the other; None where there is nothing."""
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def text(value: object, *names: str) -> str:
    """The text there; empty where there is none."""
    found = member(value, *names)
    return found if isinstance(found, str) else ""


def number(value: object, *names: str) -> int | None:
    """The whole number there, if there is one."""
    found = member(value, *names)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def items(value: object, *names: str) -> Iterator[tuple[int, object]]:
    """The entries of the list there with their places; none where there is no list."""
    found = member(value, *names)
    return enumerate(found if isinstance(found, list) else [])
