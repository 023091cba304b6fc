"""Words that the user may have meant."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

LONGEST_LIST = 24


def nearest(word: object, known: Iterable[str]) -> str:
    """The remedy for a word that is not ``known``: the nearest ones, else all of them where they are few."""
    names = sorted(known)
    text = str(word)
    similar = [name for name in names if _plain(name) == _plain(text)] or get_close_matches(text, names, n=3)
    if similar:
        return f"did you mean {either(similar)}?"
    if 0 < len(names) <= LONGEST_LIST:
        return f"use {either(names)}"
    return "remove it" if not names else f"none of the {len(names)} known ones is like it"


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def either(names: Sequence[str]) -> str:
    """The names as one reads them: ``a, b or c``."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last
