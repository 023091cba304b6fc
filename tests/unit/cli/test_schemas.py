"""Each command's `data` matches its committed JSON schema."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from cli.result import Json
from tests.unit.cli.commands import HELP
from tests.unit.cli.node_actions import samples
from tests.unit.cli.sample_results import SAMPLES, data_of

assert samples  # it registers its samples

FOLDER = Path(__file__).parents[3] / "schema" / "commands"


def schema(command: str) -> Json:
    """The committed schema of the command's `data`."""
    found: Json = json.loads((FOLDER / f"{command}.schema.json").read_text())
    return found


def test_there_is_a_schema_and_a_sample_for_each_command_and_no_other() -> None:
    assert {each.name.removesuffix(".schema.json") for each in FOLDER.iterdir()} == HELP.keys()
    assert SAMPLES.keys() == HELP.keys()


@pytest.mark.parametrize("command", HELP)
def test_data_of_a_command_matches_its_schema(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = schema(command)
    Draft202012Validator.check_schema(expected)
    results = list(SAMPLES[command](tmp_path, monkeypatch))
    assert results
    for result in results:
        data = data_of(command, result)
        assert data, result.failure
        Draft202012Validator(expected).validate(data)


@pytest.mark.parametrize("command", HELP)
def test_every_object_of_a_schema_lists_all_its_fields(command: str) -> None:
    """Otherwise a new field in the output would match."""

    def check(part: object) -> None:
        if isinstance(part, dict):
            assert part.get("type") != "object" or "additionalProperties" in part or part == {"type": "object"}
        for below in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
            check(below)

    check(schema(command))
