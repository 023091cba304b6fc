"""What is wrong with a command line, with what may have been meant."""

import argparse
import re
from collections.abc import Collection, Sequence
from typing import Any

from config.suggestions import either, nearest

HELP = ("-h", "--help")


class CommandParser(argparse.ArgumentParser):
    """The parser of one command, which itself says what it does not take: argparse leaves that to the one above it."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # as typeshed's overloads have it
        """The options, as argparse gives them; what is left over ends the program."""
        found, rest = super().parse_known_args(args, namespace)
        if rest:
            self.error(self._too_much(rest[0]))
        return found, rest

    def _too_much(self, word: str) -> str:
        if not word.startswith("-"):
            return f"{word} is one too many; write options behind all names, and `{self.prog} -h` says what there can be"
        option = word.partition("=")[0]
        return f"there is no option {option}; {nearest(option, set(re.findall(r'--[a-z-]+', self.format_help())) - {*HELP})}"


def wrong_command(words: Sequence[str], commands: Collection[str]) -> str | None:
    """What is wrong with the first word, which is the command."""
    if not words:
        return f"no command is given; use {either(sorted(commands))}"
    first = words[0]
    if first in commands or first in HELP:
        return None
    if first.startswith("-"):
        return f"{first} stands before the command; write the command first, then its options"
    return f"there is no command {first}; {nearest(first, commands)}"
