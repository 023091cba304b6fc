"""Slurm's host list expressions: ip-10-1-4-[7,9-12],login-1."""

from __future__ import annotations

import re

_BRACKETS = re.compile(r"\[([^\]]*)\]")
_BETWEEN_NAMES = re.compile(r",(?![^\[]*\])")


def expand(names: str) -> list[str]:
    """Return the host names in the expression ``names``."""
    return [host for part in _BETWEEN_NAMES.split(names) if part for host in _expand_one(part)]


def _expand_one(part: str) -> list[str]:
    match = _BRACKETS.search(part)
    if match is None:
        return [part]
    head, tail = part[: match.start()], part[match.end() :]
    return [host for number in _numbers(match[1]) for host in _expand_one(f"{head}{number}{tail}")]


def _numbers(ranges: str) -> list[str]:
    numbers: list[str] = []
    for item in ranges.split(","):
        first, dash, last = item.partition("-")
        if dash and first.isdigit() and last.isdigit():
            numbers += [str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)]
        else:
            numbers.append(item)
    return numbers
