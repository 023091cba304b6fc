"""Time spans of options: 90s, 30m, 4h, 7d."""

import re
from datetime import timedelta

import typer

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def time_span(option: str, text: str) -> timedelta:
    """Return the time span that an option names; raise a usage error for other text."""
    found = re.fullmatch(r"([1-9][0-9]{0,5})([smhd])", text)
    if not found:
        raise typer.BadParameter(f"{option} {text}: not a time span; pass a number with a unit, e.g. 90s, 30m, 4h or 7d")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def timeout_s(text: str) -> int:
    """Return the seconds of `--timeout`."""
    return int(time_span("--timeout", text).total_seconds())
