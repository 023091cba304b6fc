"""Print docs/reference/configuration.md, generated from the models: `make docs`."""

from collections.abc import Iterator, Mapping
from typing import Any

from cli.resource_code import OFF, PERMANENT
from config.model import Orchestrator, file_schema
from tools.configuration_page_texts import (
    CHANGES,
    EKS_EXAMPLES,
    EXAMPLES,
    INTRO,
    LEVELS,
    LEVELS_EXAMPLE,
    MINIMAL,
    MINIMAL_EKS,
    OVERRIDES,
    OVERRIDES_EXAMPLE,
)
from validation.catalog import BASIC, Entry, entry
from validation.rules import CHART_RULES, RULES

Schema = dict[str, Any]

# Where a field's schema names the section below it, with the end of that section's path.
_BELOW = {"$ref": "", "items": "[]", "additionalProperties": ".NAME"}


def render() -> str:
    """Return the whole page."""
    schema = file_schema()
    changes = "\n".join(f"| *{change.value}* | {what} |" for change, what in CHANGES.items())
    parts = [INTRO.format(minimal=MINIMAL, minimal_eks=MINIMAL_EKS, changes=changes)]
    parts += [_section(path, section, schema["$defs"]) for path, section in _sections("", schema, schema["$defs"])]
    parts += [OVERRIDES.format(example=OVERRIDES_EXAMPLE), LEVELS.format(example=LEVELS_EXAMPLE)]
    parts += [
        _rules("Rules for every cluster", _rules_for(None)),
        _rules("Rules for Slurm clusters", _rules_for(Orchestrator.SLURM)),
        _rules("Rules for EKS clusters", _rules_for(Orchestrator.EKS)),
        _rules("Rules for single fields", BASIC),
    ]
    return "\n".join(parts)


def _rules_for(only: Orchestrator | None) -> dict[str, Entry]:
    rules = {**RULES, **CHART_RULES}
    return {rule: entry(rule) for rule, each in rules.items() if each.orchestrator is only}


def _rules(title: str, entries: Mapping[str, Entry]) -> str:
    """Return the table of rules."""
    rows = "\n".join(f"| `{rule}` | {each.level} | {each.says} | {each.why} |" for rule, each in entries.items())
    return f"## {title}\n\n| rule | level | requirement | why |\n|---|---|---|---|\n{rows}\n"


def _sections(path: str, section: Schema, definitions: Schema) -> Iterator[tuple[str, Schema]]:
    """Yield each section of the file with its path, parents first."""
    yield path, section
    for name, field in section["properties"].items():
        inner = _inner(field)
        for keyword, suffix in _BELOW.items():
            below = inner if keyword == "$ref" else inner.get(keyword)
            reference = below.get("$ref", "") if isinstance(below, dict) else ""
            definition = definitions.get(reference.rpartition("/")[2], {})
            if "properties" in definition:
                yield from _sections(f"{path}.{name}".lstrip(".") + suffix, definition, definitions)


def _section(path: str, section: Schema, definitions: Schema) -> str:
    """Return a section's description, example and table of fields."""
    title = f"`{path}`" if path else "The file"
    shown = (EXAMPLES | EKS_EXAMPLES).get(path)
    example = f"\n```yaml\n{shown}```\n" if shown else ""
    rows = "\n".join(
        _row(name, field, definitions, required=name in section.get("required", ()))
        for name, field in section["properties"].items()
        if (path, name) != ("", "name")
    )
    head = "| field | type | default | bounds | a change | becomes | description |\n|---|---|---|---|---|---|---|"
    return f"## {title}\n\n{section['description']}\n{example}\n{head}\n{rows}\n"


def _row(name: str, field: Schema, definitions: Schema, *, required: bool) -> str:
    default = "**required**" if required else _default(field.get("default"))
    cells = (
        f"`{name}`",
        _type(_inner(field), definitions),
        default,
        _bounds(_inner(field)),
        f"*{field['change']}*" + ("" if required or field.get("default") else _removal(field["api"])),
        _member(field["api"]),
        field["description"],
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _member(api: str) -> str:
    """Return the member of the API request that the field becomes; most are CreateCluster's."""
    operation, _, member = api.partition(" ")
    operation = operation.partition(":")[2]
    return f"`{member}`" + (f" of {operation}" if operation != "CreateCluster" else "") if member else ""


def _removal(api: str) -> str:
    """Return what happens when the file removes the field, if that is more than a change."""
    member = api.partition(" ")[2].removeprefix("InstanceGroups[].")
    if member in PERMANENT:
        return "; cannot be removed"
    return f"; `{OFF[member]}` if removed" if OFF.get(member) else ""


def _inner(field: Schema) -> Schema:
    """Return the schema of the field's type, without null."""
    choices = [choice for choice in field.get("anyOf", []) if choice.get("type") != "null"]
    inner: Schema = choices[0] if choices else field
    return inner


def _default(value: object) -> str:
    if value is None:
        return "none"
    if isinstance(value, dict) and value:
        return "see below"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, list | tuple):
        return f"`[{', '.join(map(str, value))}]`"
    return f"`{value}`" if value != "" else "empty"


def _type(schema: Schema, definitions: Schema) -> str:
    if "$ref" in schema:
        definition = definitions[schema["$ref"].rpartition("/")[2]]
        return "section" if "properties" in definition else ", ".join(f"`{value}`" for value in definition["enum"])
    if schema.get("format") == "ipv4network":
        return "address range"
    if schema.get("format") == "path":
        return "folder"
    if schema["type"] == "array":
        inner = _type(schema["items"], definitions)
        return "list of sections" if inner == "section" else f"list of {inner}"
    if isinstance(schema.get("additionalProperties"), dict) and "$ref" in schema["additionalProperties"]:
        return "mapping of sections"
    return {"string": "text", "integer": "whole number", "number": "number", "boolean": "`true` or `false`", "object": "mapping"}[
        schema["type"]
    ]


def _bounds(schema: Schema) -> str:
    parts = [
        _range(schema.get("minimum"), schema.get("maximum"), ""),
        _range(schema.get("minLength"), schema.get("maxLength"), " characters"),
        _range(schema.get("minItems"), schema.get("maxItems"), " entries"),
        _range(None, schema.get("maxProperties"), " entries"),
        f"`{schema['pattern']}`" if "pattern" in schema else "",
        _bounds(schema["items"]) if "items" in schema else "",
    ]
    return ", ".join(part for part in parts if part)


def _range(least: int | None, most: int | None, unit: str) -> str:
    if least is None:
        return f"at most {most}{unit}" if most is not None else ""
    return f"{least} to {most}{unit}" if most is not None else f"at least {least}{unit}"


if __name__ == "__main__":
    print(render(), end="")  # noqa: T201  its output is the file
