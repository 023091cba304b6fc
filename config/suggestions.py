"""Suggest known words for a misspelled one."""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

MAX_LISTED = 24
MIN_PART_LENGTH = 4
MAX_SUGGESTIONS = 3


def like(word: object, known: Iterable[str]) -> list[str]:
    """Return the similar ``known`` words, most similar first."""
    names, text = sorted(known), str(word)
    same = [name for name in names if _plain(name) == _plain(text)]
    close = get_close_matches(text, names, n=MAX_SUGGESTIONS)
    around = [name for name in names if len(text) >= MIN_PART_LENGTH and text.lower() in re.split(r"[_-]", name.lower())]
    begun = [name for name in names if len(text) >= MIN_PART_LENGTH and name.startswith(text.lower())]
    return same or close or around or begun[:MAX_SUGGESTIONS]


def nearest(word: object, known: Iterable[str]) -> str:
    """Return a fix for an unknown word: similar words, or all known words if there are few."""
    names = sorted(known)
    similar = like(word, names)
    if similar:
        return f"did you mean {either(similar)}?"
    if 0 < len(names) <= MAX_LISTED:
        return f"use {either(names)}"
    return "remove it" if not names else f"none of the {len(names)} known values is similar"


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def either(names: Sequence[str]) -> str:
    """Join the names: ``a, b or c``."""
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last
