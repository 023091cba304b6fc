"""One difference between the cluster file and what exists."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from cli.result import Json, Table


@dataclass(frozen=True)
class Difference:
    """A field whose value differs, and what a deployment would do about it; None is an absent value."""

    place: str
    field: str
    file: object
    actual: object
    deployment: str

    def data(self) -> Json:
        """Return the difference for JSON."""
        return {
            "place": self.place,
            "field": self.field,
            "desired": _text(self.file),
            "observed": _text(self.actual),
            "deployment": self.deployment,
        }

    @property
    def lines(self) -> str:
        """Return the difference as text."""
        return f"{self.place}: {self.field}: file {_shown(self.file)}, actual {_shown(self.actual)}\n    {self.deployment}"


def table_of(differences: Sequence[Difference]) -> list[str | Table]:
    """Return the differences as blocks of text."""
    return ["\n".join(each.lines for each in differences)] if differences else []


def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, default=str)


def _shown(value: object) -> str:
    return "none" if value is None else str(_text(value))
