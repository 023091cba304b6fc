"""Enumerate the valid entries of a list with their index in the file, and find repeated values."""

from collections.abc import Hashable, Iterable, Iterator
from typing import Self, TypeVar

T = TypeVar("T")
Value = TypeVar("Value", bound=Hashable)


class ValidEntries(tuple[T, ...]):
    """The valid entries of a list; invalid ones are omitted."""

    places: tuple[int, ...]

    @classmethod
    def at(cls, found: Iterable[tuple[int, T]]) -> Self:
        """Return the entries with their index in the file."""
        pairs = list(found)
        entries = cls(entry for _, entry in pairs)
        entries.places = tuple(place for place, _ in pairs)
        return entries


def numbered(entries: tuple[T, ...]) -> Iterator[tuple[int, T]]:
    """Yield each entry with its index in the file."""
    places = entries.places if isinstance(entries, ValidEntries) else range(len(entries))
    return zip(places, entries, strict=True)


def repeated(values: Iterable[tuple[T, Value]]) -> Iterator[tuple[T, Value, T]]:
    """Yield each value that occurs before, with its place and that of the first one."""
    first: dict[Value, T] = {}
    for place, value in values:
        if first.setdefault(value, place) != place:
            yield place, value, first[value]
