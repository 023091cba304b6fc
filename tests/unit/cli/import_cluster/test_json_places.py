"""Where values stand in a JSON text."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli.import_cluster.json_file import JsonFile, places_of
from config.errors import Place
from validation.yaml.reader import read_yaml

TEXT = """{
  "a": [1, {"b \\" c": null}],
\t"d": {}, "e":"x"
}
"""


def test_a_member_stands_where_its_name_begins_and_an_entry_where_it_begins() -> None:
    assert {path: str(place) for path, place in places_of(TEXT).items()} == {
        (): "1:1",
        ("a",): "2:3",
        ("a", 0): "2:9",
        ("a", 1): "2:12",
        ("a", 1, 'b " c'): "2:13",
        ("d",): "3:2",
        ("e",): "3:11",
    }


def test_what_is_missing_stands_where_that_begins_of_which_it_is_missing() -> None:
    file = JsonFile("file.json", None, places_of(TEXT))
    assert file.place(("a", 1, "z", 3)) == Place(2, 12)
    assert file.place(("z",)) == Place(1, 1)
    assert JsonFile("file.json", None).place(("z",)) is None


@pytest.mark.parametrize("text", ["7", ' "x" ', "[]", "{}", "[[], {}]", "-1.5e3", "null"])
def test_any_value_can_be_a_document(text: str) -> None:
    assert places_of(text)[()] == Place(1, len(text) - len(text.lstrip()) + 1)


WORDS = st.text('ab\\"{}[],: \u00e9\U0001f600', max_size=4)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(WORDS, below, max_size=3),
    max_leaves=10,
)


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(VALUES, st.sampled_from([None, 0, 2]))
def test_places_are_those_that_a_reader_of_yaml_finds(value: object, indent: int | None) -> None:
    """JSON is YAML, of which another reader tells the places."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    assert places_of(text) == read_yaml(text.encode()).places
