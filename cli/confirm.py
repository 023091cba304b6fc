"""Asks a person at the terminal, without writing the question into piped output."""

import sys
from collections.abc import Callable

from cli.errors import CommandError
from config.printable import printable

Confirm = Callable[[str], None]


def prompt(question: str) -> str:
    """Return the answer to the question."""
    if sys.stdout.isatty():
        return input(printable(question))
    print(printable(question), end="", file=sys.stderr, flush=True)
    return input()


def confirmation(*, yes: bool) -> Confirm:
    """Return a function that asks a question and raises a CommandError unless the answer is yes."""
    return without_asking if yes else _ask


def without_asking(_: str) -> None:
    """Assume that the answer is yes."""


def _ask(question: str) -> None:
    if not sys.stdin.isatty():
        raise CommandError(f"not a terminal: pass --yes to confirm: {question}")
    if prompt(f"{question} [y/N]: ").strip().lower() not in ("y", "yes"):
        raise CommandError("nothing was changed")
