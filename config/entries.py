"""Enumerate the valid entries of a list with their index in the file."""

from collections.abc import Iterable, Iterator
from typing import Self, TypeVar

T = TypeVar("T")


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
