"""A stand-in for shell.run that keeps what it was asked, and answers what a test tells it to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

Answer = Callable[[tuple[str, ...], str | None], str]


@dataclass
class RecordedRun:
    """Programs by name: what each does; a program that is not named says nothing and succeeds."""

    programs: dict[str, Answer] = field(default_factory=dict)
    commands: list[tuple[str, ...]] = field(default_factory=list)
    inputs: list[str | None] = field(default_factory=list)
    environments: list[Mapping[str, str] | None] = field(default_factory=list)

    def __call__(
        self,
        program: str,
        *arguments: str,
        stdin: str | None = None,
        environment: Mapping[str, str] | None = None,
        **_: object,
    ) -> str:
        self.commands.append((program, *arguments))
        self.inputs.append(stdin)
        self.environments.append(environment)
        return self.programs[program](arguments, stdin) if program in self.programs else ""

    def named(self, program: str) -> list[tuple[str, ...]]:
        """What that program was asked, without its name."""
        return [command[1:] for command in self.commands if command[0] == program]
