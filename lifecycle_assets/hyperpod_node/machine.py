"""The operating system of a node on Amazon EKS, as the steps use it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hyperpod_node.retry import CLOCK, Clock
from hyperpod_node.shell import Run, run

if TYPE_CHECKING:
    from typing import Protocol
else:
    Protocol = object  # Python 3.7 has none


class Machine(Protocol):
    """Files, programs and time of a node; hyperpod_node.system.System has them, too."""

    @property
    def run(self) -> Run:
        """Return the function that runs a program."""

    @property
    def clock(self) -> Clock:
        """Return the clock."""

    def path(self, path: str | Path) -> Path:
        """Return the file at the absolute ``path``."""


@dataclass(frozen=True)
class _Node:
    """The node that this code runs on."""

    run: Run = run
    clock: Clock = CLOCK

    def path(self, path: str | Path) -> Path:
        """Return the file at ``path``."""
        return Path(path)


MACHINE = _Node()
