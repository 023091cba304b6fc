"""Facts of AWS that this project relies on: what AWS answers, who says so, and the question that a judge answers.

A judge plays AWS: the embedded AWS (`engine`), a fake of the unit tests (`fake_states`) or a model of the soak (`soak`).
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from botocore.exceptions import ClientError

Question: TypeAlias = Callable[[Any], Any]
FACTS: "dict[str, Fact]" = {}


@dataclass(frozen=True)
class Fact:
    """One fact; ``source`` is AWS's documentation, or a recording or report of AWS's answer."""

    id: str
    says: str
    source: str
    date: str
    """Of the recording or report; `documented` for AWS's documentation."""
    expected: Any
    judges: tuple[str, ...]
    question: Question


def fact(  # noqa: PLR0917  a row of a table
    id: str, says: str, source: str, date: str, expected: Any, judges: tuple[str, ...] = ("engine",)
) -> Callable[[Question], Question]:
    """Register a function as the question of a fact: it gets a judge and returns the judge's answer."""

    def register(question: Question) -> Question:
        if id in FACTS:
            raise ValueError(f"two facts are called {id}")
        FACTS[id] = Fact(id, says, source, date, expected, judges, question)
        return question

    return register


def load() -> "dict[str, Fact]":
    """Return the facts of all modules of this folder."""
    for module in sorted(Path(__file__).parent.glob("[!_]*.py")):
        if not module.name.startswith("test_"):
            importlib.import_module(f"tests.contract.aws_facts.{module.stem}")
    return FACTS


def refusal(call: Callable[..., Any], **arguments: Any) -> str:
    """Return the code of the error that a call raises, or `accepted`."""
    try:
        call(**arguments)
    except ClientError as error:
        return str(error.response["Error"]["Code"])
    except Exception as error:  # noqa: BLE001  a fake's exceptions are named like AWS's codes
        return type(error).__name__
    return "accepted"


documented = partial(fact, date="documented")
