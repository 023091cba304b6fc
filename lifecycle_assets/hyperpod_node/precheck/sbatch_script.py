"""A user's sbatch script, read as sbatch and a shell would, as far as the rules need it."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from functools import cached_property

# sbatch's and srun's short options, those that the rules look at.
LONG = {
    "N": "nodes",
    "n": "ntasks",
    "p": "partition",
    "o": "output",
    "e": "error",
    "D": "chdir",
    "G": "gpus",
    "J": "job-name",
    "t": "time",
}
DIRECTIVE = re.compile(r"#SBATCH\b")


@dataclass(frozen=True)
class Option:
    """One option of sbatch or srun, by its long name, and the line that it is on."""

    name: str
    value: str
    line: int


@dataclass(frozen=True)
class Command:
    """One line of the script's own commands, with the lines that a backslash joins to it; comments are gone."""

    text: str
    line: int


@dataclass(frozen=True)
class SbatchScript:
    """The script's text in parts."""

    text: str

    @cached_property
    def lines(self) -> list[str]:
        """All lines."""
        return self.text.split("\n")

    @cached_property
    def first_command(self) -> int:
        """The number of the first line that is neither empty nor a comment; sbatch stops reading options there."""
        for number, line in enumerate(self.lines, 1):
            if line.strip() and not line.lstrip().startswith("#"):
                return number
        return len(self.lines) + 1

    @cached_property
    def directives(self) -> list[tuple[int, str]]:
        """All `#SBATCH` lines with their numbers, those that sbatch does not read any more included."""
        return [(number, line) for number, line in enumerate(self.lines, 1) if DIRECTIVE.match(line)]

    @cached_property
    def options(self) -> list[Option]:
        """What `#SBATCH` lines ask for."""
        in_force = [(number, line) for number, line in self.directives if number < self.first_command]
        return [option for number, line in in_force for option in options_of(words(line)[1:], number)]

    @cached_property
    def commands(self) -> list[Command]:
        """The commands."""
        found, text, begun = [], "", 0
        for number, line in enumerate(self.lines, 1):
            begun = begun if text else number
            text += line.removesuffix("\\")
            if line.endswith("\\"):
                continue
            if text.strip() and not text.lstrip().startswith("#"):
                found.append(Command(text, begun))
            text = ""
        return found

    @cached_property
    def steps(self) -> list[list[Option]]:
        """The options of each srun."""
        return [options_of(_of_srun(words(command.text)), command.line) for command in self.commands if runs("srun", command)]

    def option(self, name: str) -> Option | None:
        """The last one of that name, which is the one in force."""
        return next((option for option in reversed(self.options) if option.name == name), None)


def runs(program: str, command: Command) -> bool:
    """Tell whether ``command`` starts ``program``, by its name or its path."""
    return re.search(rf"(^|[\s;&|(]|/){re.escape(program)}(\s|$)", command.text) is not None


def words(text: str) -> list[str]:
    """The words of a line, comments gone; of one that no shell could read alone, what white space separates."""
    try:
        return shlex.split(text.removeprefix("#"), comments=True)
    except ValueError:
        return text.removeprefix("#").split()


def options_of(arguments: list[str], line: int) -> list[Option]:
    """The options among ``arguments``, up to the program that srun starts."""
    found, rest = [], list(arguments)
    while rest and rest[0].startswith("-"):
        word = rest.pop(0)
        name, equals, value = word.lstrip("-").partition("=")
        if not word.startswith("--"):
            name, value = LONG.get(word[1:2], word[1:2]), word[2:]
        if not equals and not value and rest and not rest[0].startswith("-") and name not in FLAGS:
            value = rest.pop(0)
        found.append(Option(name, value, line))
    return found


# Options without a value; the word after them is not theirs.
FLAGS = {
    *("exclusive", "requeue", "no-requeue", "label", "l", "overlap", "overcommit", "O", "unbuffered", "u", "pty"),
    *("container-mount-home", "no-container-mount-home", "container-writable", "hold", "H", "no-kill", "k", "verbose", "v"),
    *("contiguous", "spread-job", "parsable", "wait-all-nodes", "quiet", "Q", "K"),
}


def _of_srun(all_words: list[str]) -> list[str]:
    """What comes after the word `srun`."""
    for index, word in enumerate(all_words):
        if word.rpartition("/")[2] == "srun":
            return all_words[index + 1 :]
    return []
