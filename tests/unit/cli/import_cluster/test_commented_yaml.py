"""What is written is read as what it was, whatever it looks like."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli.import_cluster.commented_yaml import Part, schema_note, written
from validation.schema import FILE
from validation.yaml.reader import read_yaml

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES: Any = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | TEXTS,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(TEXTS, below, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize(
    "text",
    [
        "1e5",
        "08",
        "012345678912",
        "no",
        "true",
        "~",
        "",
        " a",
        "a: b",
        "a #b",
        "- a",
        "2.10",
        "12:30",
        "a\nb",
        "\x85",
        "\u2028",
        "=",
        "!a",
    ],
)
def test_a_text_that_looks_like_something_else_stays_a_text(text: str) -> None:
    assert read_yaml(written([Part({"field": text, "list": [text]})]).encode()).content == {"field": text, "list": [text]}


@settings(max_examples=150, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=3))
def test_any_value_is_read_as_it_was_written(content: dict[str, object]) -> None:
    document = read_yaml(written([Part(content)]).encode())
    assert (document.content, document.problems) == (content, [])


def test_comments_are_wrapped_and_cannot_end_early() -> None:
    text = written([Part({}, ("a comment " * 30, "an\nend")), Part({"field": 1}, ("\x00\x07above",))])
    assert all(line.startswith("# ") or not line or line == "field: 1" for line in text.splitlines())
    assert max(map(len, text.splitlines())) <= 120
    assert "# ??above\nfield: 1" in text
    assert read_yaml(text.encode()).content == {"field": 1}


def test_editors_find_the_schema_only_from_a_folder_of_the_project(tmp_path: Path) -> None:
    assert schema_note(FILE.parents[1] / "clusters") == ("yaml-language-server: $schema=../schema/cluster.schema.json",)
    assert schema_note(tmp_path) == ()


def test_a_part_without_anything_leaves_no_gap() -> None:
    assert written([Part({"a": 1}), Part({}), Part({"b": 2})]) == "a: 1\n\nb: 2\n"
