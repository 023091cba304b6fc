"""Each command's `data` matches its committed JSON schema, and the same thing has one key and one shape in all schemas."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from cli.result import Json
from tests.command_schemas import DEFINITIONS, FOLDER, check_data, schema
from tests.unit.cli.commands import HELP
from tests.unit.cli.node_actions import samples
from tests.unit.cli.sample_results import SAMPLES, data_of

assert samples  # it registers its samples

DEFINED: Json = schema("definitions")["$defs"]
OTHER_WORDS = {
    "message": {"detail", "details", "error", "failure_message", "reason", "why"},
    "fix": {"action", "hint", "remedy"},
    "result": {"outcome", "deleted", "released", "succeeded"},
    "instance_id": {"instance", "node_id"},
    "host": {"hostname", "host_name"},
    "group": {"instance_group", "group_name"},
    "cluster": {"cluster_name"},
    "desired": {"wanted", "expected"},
    "observed": {"actual", "found"},
    "description": {"what"},
}
"""Keys that schemas do not have, because the same thing has the key before the colon."""
Field = tuple[str, str, Json]
"""The place of a field, its key and its schema."""


def fields(part: object, place: str) -> Iterator[Field]:
    """Every field of the objects in a schema, but no number by level; references to the definitions are not followed."""
    if place.endswith(".counts"):
        return
    if isinstance(part, dict):
        for key, below in part.get("properties", {}).items():
            yield place, key, below
            yield from fields(below, f"{place}.{key}")
        for word, below in part.items():
            if word != "properties":
                yield from fields(below, place)
    elif isinstance(part, list):
        for below in part:
            yield from fields(below, place)


FIELDS = [field for name in (*HELP, "definitions") for field in fields(schema(name), name)]


def types(found: Json) -> set[str]:
    """The types of a field's values, without null."""
    if "$ref" in found:
        return types(DEFINED[found["$ref"].rpartition("/")[2]])
    if "anyOf" in found:
        return set().union(*(types(each) for each in found["anyOf"]))
    if "enum" in found or "const" in found:
        return {"string"}
    of = found["type"] if isinstance(found["type"], list) else [found["type"]]
    return {f"array of {' or '.join(sorted(types(found['items'])))}" if name == "array" else name for name in of} - {"null"}


def test_there_is_a_schema_and_a_sample_for_each_command_and_no_other() -> None:
    names = {each.name.removesuffix(".schema.json") for each in FOLDER.iterdir()}
    assert names == {*HELP, "definitions"}
    assert SAMPLES.keys() == HELP.keys()


@pytest.mark.parametrize("command", HELP)
def test_data_of_a_command_matches_its_schema(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Draft202012Validator.check_schema(schema(command))
    results = list(SAMPLES[command](tmp_path, monkeypatch))
    assert results
    for result in results:
        data = data_of(command, result)
        assert data, result.failure
        check_data(command, data)


@pytest.mark.parametrize("name", [*HELP, "definitions"])
def test_every_object_of_a_schema_lists_all_its_fields(name: str) -> None:
    """Otherwise a new field in the output would match. The schemas that refer to the node add their fields."""

    def check(part: object) -> None:
        if isinstance(part, dict):
            is_closed = "additionalProperties" in part or "unevaluatedProperties" in part or part == {"type": "object"}
            assert is_closed or (part.get("type") != "object" and "properties" not in part) or part == DEFINED["node"]
        for below in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            check(below)

    check({key: value for key, value in schema(name).items() if key != "properties"})
    for _, _, found in fields(schema(name), name):
        check(found)


def test_the_same_thing_has_one_key_in_all_schemas() -> None:
    assert len(FIELDS) > 150
    other = {word: key for key, words in OTHER_WORDS.items() for word in words}
    assert [f"{place}.{key}: write {other[key]}" for place, key, _ in FIELDS if key in other] == []


def test_a_key_has_one_shape_in_all_schemas() -> None:
    shapes: dict[str, dict[str, str]] = {}
    for place, key, found in FIELDS:
        shapes.setdefault(key, {}).setdefault(" or ".join(sorted(types(found))), f"{place}.{key}")
    assert [list(places.values()) for places in shapes.values() if len(places) > 1] == []


@pytest.mark.parametrize("key", ["message", "fix", "cluster"])
def test_shared_fields_refer_to_their_definition(key: str) -> None:
    reference = f"{DEFINITIONS}#/$defs/{key}"
    found = {place: each for place, name, each in FIELDS if name == key and not place.startswith("definitions")}
    assert found
    assert [place for place, each in found.items() if reference not in json.dumps(each) and place != "health-check.log"] == []


def test_a_node_is_the_same_object_in_all_schemas() -> None:
    found = {
        f"{place}.{key}": each for place, key, each in FIELDS if key in ("node", "nodes") and not place.startswith("definitions")
    }
    assert len(found) > 12
    assert [place for place, each in found.items() if f"{DEFINITIONS}#/$defs/node" not in json.dumps(each)] == []
    names = {place for place, key, _ in FIELDS if key == "instance_id"}
    assert names == {"definitions"}, "a node is an object with all its names"
