"""The entries of a list in a cluster file, each with its place there."""

from collections.abc import Iterable, Iterator
from typing import Self, TypeVar

T = TypeVar("T")


class ValidEntries(tuple[T, ...]):
    """Those entries of a list that are valid by themselves; others of the list are not."""

    places: tuple[int, ...]

    @classmethod
    def at(cls, found: Iterable[tuple[int, T]]) -> Self:
        """The entries with the places that they have in the file."""
        pairs = list(found)
        entries = cls(entry for _, entry in pairs)
        entries.places = tuple(place for place, _ in pairs)
        return entries


def numbered(entries: tuple[T, ...]) -> Iterator[tuple[int, T]]:
    """Each entry after its place in the file."""
    places = entries.places if isinstance(entries, ValidEntries) else range(len(entries))
    return zip(places, entries, strict=True)
