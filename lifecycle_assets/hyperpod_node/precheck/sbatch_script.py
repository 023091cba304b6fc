"""Parse an sbatch script as sbatch and a shell do, as far as the rules need it, and name a problem in it."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from hyperpod_node.errors import NodeError

if TYPE_CHECKING:
    from pathlib import Path

# The short options of sbatch and srun that the rules use.
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
# Options without a value.
FLAGS = {
    *("exclusive", "requeue", "no-requeue", "label", "l", "overlap", "overcommit", "O", "unbuffered", "u", "pty"),
    *("container-mount-home", "no-container-mount-home", "container-writable", "hold", "H", "no-kill", "k", "verbose", "v"),
    *("contiguous", "spread-job", "parsable", "wait-all-nodes", "quiet", "Q", "K"),
}
DIRECTIVE = re.compile(r"#SBATCH\b")
ERROR, WARNING = "error", "warning"


@dataclass(frozen=True)
class Problem:
    """A problem in one line, and its fix."""

    line: int
    level: str
    message: str
    fix: str


@dataclass(frozen=True)
class Option:
    """One option of sbatch or srun, by its long name, and the line that it is on."""

    name: str
    value: str
    line: int


@dataclass(frozen=True)
class Command:
    """A command of the script, with continuation lines joined."""

    text: str
    line: int


@dataclass(frozen=True)
class SbatchScript:
    """The text of the script and its parts."""

    text: str

    @cached_property
    def lines(self) -> list[str]:
        """Return all lines."""
        return self.text.split("\n")

    @cached_property
    def first_command(self) -> int:
        """Return the number of the first line that is not empty or a comment; sbatch stops reading options there."""
        for number, line in enumerate(self.lines, 1):
            if line.strip() and not line.lstrip().startswith("#"):
                return number
        return len(self.lines) + 1

    @cached_property
    def directives(self) -> list[tuple[int, str]]:
        """Return all `#SBATCH` lines with their numbers, including those that sbatch ignores."""
        return [(number, line) for number, line in enumerate(self.lines, 1) if DIRECTIVE.match(line)]

    @cached_property
    def options(self) -> list[Option]:
        """Return the options in `#SBATCH` lines that sbatch reads."""
        in_force = [(number, line) for number, line in self.directives if number < self.first_command]
        return [option for number, line in in_force for option in options_of(words(line)[1:], number)]

    @cached_property
    def commands(self) -> list[Command]:
        """Return the commands."""
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
    def step_options(self) -> list[Option]:
        """Return the options of all sruns."""
        steps = [command for command in self.commands if runs("srun", command)]
        return [option for step in steps for option in options_of(_of_srun(words(step.text)), step.line)]

    def option(self, name: str) -> Option | None:
        """Return the last option ``name``, which overrides earlier ones."""
        return next((option for option in reversed(self.options) if option.name == name), None)


def read(path: Path) -> SbatchScript:
    """Return the script in ``path``."""
    try:
        return SbatchScript(path.read_bytes().decode())  # read_text would hide Windows line endings
    except (OSError, UnicodeDecodeError) as error:
        raise NodeError(f"cannot read {path}: {error}") from None


def error(line: int, message: str, fix: str) -> Problem:
    """Return a problem for which Slurm rejects the job, or the job fails."""
    return Problem(line, ERROR, message, fix)


def warning(line: int, message: str, fix: str) -> Problem:
    """Return a problem of a job that runs, but may lose work."""
    return Problem(line, WARNING, message, fix)


def runs(program: str, command: Command) -> bool:
    """Return whether ``command`` runs ``program``, by its name or its path."""
    return re.search(rf"(^|[\s;&|(]|/){re.escape(program)}(\s|$)", command.text) is not None


def words(text: str) -> list[str]:
    """Return the words of a line without comments; if the quoting is incomplete, split at white space."""
    try:
        return shlex.split(text.removeprefix("#"), comments=True)
    except ValueError:
        return text.removeprefix("#").split()


def options_of(arguments: list[str], line: int) -> list[Option]:
    """Return the options in ``arguments``, up to the program that srun starts."""
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


def _of_srun(all_words: list[str]) -> list[str]:
    """Return the words after `srun`."""
    for index, word in enumerate(all_words):
        if word.rpartition("/")[2] == "srun":
            return all_words[index + 1 :]
    return []
