"""Facts of AWS that this project relies on: what AWS answers, who says so, and the question that a judge answers.

A judge plays AWS: the embedded AWS (`engine`), a fake of the unit tests (`fake_states`) or a model of the soak (`soak`).
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from botocore.exceptions import ClientError

Question: TypeAlias = Callable[[Any], Any]
FACTS: "dict[str, Fact]" = {}


@dataclass
class Fact:
    """One fact; it decorates its question, a function that gets a judge and returns the judge's answer."""

    id: str
    says: str
    source: str
    """AWS's documentation, or a recording or report of AWS's answer."""
    date: str
    """Of the recording or report; `documented` for AWS's documentation."""
    expected: Any
    judges: tuple[str, ...] = ("engine",)
    question: Question = field(init=False)

    def __call__(self, question: Question) -> Question:
        """Register the fact with its question."""
        if FACTS.setdefault(self.id, self) is not self:
            raise ValueError(f"two facts are called {self.id}")
        self.question = question
        return question


fact = Fact


def documented(id: str, says: str, source: str, expected: Any, judges: tuple[str, ...] = ("engine",)) -> Fact:
    """Return a fact of AWS's documentation."""
    return Fact(id, says, source, "documented", expected, judges)


def load() -> dict[str, Fact]:
    """Return the facts of all modules of this folder."""
    for module in sorted(Path(__file__).parent.glob("[!_]*.py")):
        if not module.name.startswith("test_"):
            importlib.import_module(f"tests.contract.aws_facts.{module.stem}")
    return FACTS


def refusal(call: Callable[..., Any], **arguments: Any) -> str:
    """Return the code of the error that a call raises, or `accepted`."""
    try:
        call(**arguments)
    except Exception as error:  # noqa: BLE001  a fake's exceptions are named like AWS's codes
        return str(error.response["Error"]["Code"]) if isinstance(error, ClientError) else type(error).__name__
    return "accepted"
