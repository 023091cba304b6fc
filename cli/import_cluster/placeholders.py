"""Find the placeholders of a pasted request: shell variables, and words in angle brackets."""

import re
from collections.abc import Iterator, Mapping

from config.errors import Path, Problem

# A database's name may contain `$` inside, so a variable without braces begins a word, in upper case.
PLACEHOLDER = re.compile(r"\$\{\w+\}|(?<![\w$])\$[A-Z_][A-Z0-9_]*|<[^<>\n]+>")


def is_placeholder(value: object) -> bool:
    """Return whether the whole value is a placeholder."""
    return isinstance(value, str) and PLACEHOLDER.fullmatch(value) is not None


def placeholder_problems(request: object) -> Iterator[Problem]:
    """Yield a problem for each value with a placeholder."""
    for path, value in texts(request):
        if found := PLACEHOLDER.search(value):
            yield Problem(path, value, f"{found[0]} is a placeholder; replace it with its value")


def texts(value: object, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield each text with its path."""
    if isinstance(value, str):
        yield path, value
    items = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, below in items:
        yield from texts(below, (*path, key))
