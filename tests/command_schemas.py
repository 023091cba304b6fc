"""The committed JSON schemas of the `data` of commands."""

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

FOLDER = Path(__file__).parents[1] / "schema" / "commands"
DEFINITIONS = "definitions.schema.json"


def schema(name: str) -> dict[str, Any]:
    """The schema of a command, or the definitions that schemas share."""
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.schema.json").read_text())
    return found


def check_data(command: str, data: object) -> None:
    """Fail unless the data matches the command's schema."""
    shared = Resource.from_contents(schema("definitions"))
    registry: Registry[Any] = Registry().with_resource(DEFINITIONS, shared)
    Draft202012Validator(schema(command), registry=registry).validate(data)
