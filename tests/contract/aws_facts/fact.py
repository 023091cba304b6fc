"""Facts of AWS that this project relies on: what AWS answers, who says so, and the question that a judge answers.

A judge plays AWS: the embedded AWS (`engine`), a fake of the unit tests (`fake_states`) or a model of the soak (`soak`).
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FACTS: "dict[str, Fact]" = {}
ENGINE, BOTH, ALL = ("engine",), ("engine", "soak"), ("engine", "fake_states", "soak")


@dataclass
class Fact:
    """One fact; called with its question, a function that gets a judge, and perhaps more, and returns the judge's answer."""

    id: str
    says: str
    source: Any  # AWS's documentation, or a recording or report of AWS's answer with its date
    expected: Any
    judges: tuple[str, ...] = ENGINE
    date: str = "documented"
    question: Callable[[Any], Any] = field(init=False)

    def __post_init__(self) -> None:
        if isinstance(self.source, tuple):
            self.source, self.date = self.source

    def __call__(self, question: Callable[..., Any], *given: Any, **options: Any) -> Callable[..., Any]:
        """Register the fact with its question."""
        if FACTS.setdefault(self.id, self) is not self:
            raise ValueError(f"two facts are called {self.id}")
        self.question = lambda judge: question(judge, *given, **options)
        return question


def load() -> dict[str, Fact]:
    """Return the facts of all modules of this folder."""
    for module in sorted(Path(__file__).parent.glob("[!_]*.py")):
        if not module.name.startswith("test_"):
            importlib.import_module(f"tests.contract.aws_facts.{module.stem}")
    return FACTS
