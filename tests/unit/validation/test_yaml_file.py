import re
import time

import pytest

from validation.yaml.reader import read_yaml


def problems(source: str) -> list[str]:
    return [str(problem) for problem in read_yaml(source.encode()).problems]


@pytest.mark.parametrize(
    ("spelled", "value"),
    [
        ("no", "no"),
        ("on", "on"),
        ("2024-01-31", "2024-01-31"),
        ("1:30", "1:30"),
        ("0x1f", "0x1f"),
        ("1_000", "1_000"),
        ("true", True),
        ("12", 12),
        ("-3", -3),
        ("2.15", 2.15),
        ("~", None),
        ("", None),
        ('"12"', "12"),
        ("'true'", "true"),
        ("=", "="),
        ("ml.c5.xlarge", "ml.c5.xlarge"),
    ],
)
def test_words_are_read_as_they_look(spelled: str, value: object) -> None:
    document = read_yaml(f"key: {spelled}".encode())
    assert document.problems == []
    assert document.content == {"key": value}
    assert type(document.content["key"]) is type(value)


def test_the_spelling_of_a_number_is_kept() -> None:
    assert read_yaml(b"a:\n  - b: 012").spelling == {("a", 0, "b"): "012"}


def test_a_duplicate_key_is_reported_with_both_lines() -> None:
    assert problems("a:\n  b: 1\n  c: 2\n  b: 3\n") == ['a.b: "b": duplicate key, on lines 2 and 4; keep only one']


def test_every_duplicate_key_is_reported() -> None:
    assert len(problems("a: 1\na: 2\nb: 1\nb: 2\na: 3\n")) == 3


def test_an_unforeseen_syntax_error_is_reported_in_the_parsers_words() -> None:
    [line] = problems("a: {b: 1 c: 2}\n")
    assert line == (
        "\"a: {b: 1 c: 2}\": invalid YAML at line 1, column 11: expected ',' or '}', but got ':'; "
        "add a comma before it, or close the { of line 1, column 4"
    )


@pytest.mark.parametrize(
    ("source", "place", "said"),
    [
        ('a: "1\nb: 2\nc: 3\n', "1:4", "unclosed quote; close it"),
        ('a: "1\nb: 2\nc: "3"\n', "1:4", "unclosed quote; close it on this line"),
        ("a: 1\nb: [1, 2\nc: 3\n", "2:4", "[ is not closed before line 3; close it, or add the missing comma"),
        ("b:\n  - {x: 1\nc: 3\n", "2:5", "{ is not closed before line 3; close it, or add the missing comma"),
        (
            "a:\n    b: 1\n  c: 2\n",
            "3:3",
            "invalid YAML at line 3, column 3: its indentation matches no line since line 1; align it",
        ),
        ("a: 1\nregion us-west-2\nnetwork:\n  a: 1\n", "2:1", "missing colon; write `region: us-west-2`"),
        ("a: 1\nregion\nnetwork:\n  a: 1\n", "2:1", "missing colon; write `region:`"),
        ("a: 1\nregion:us-west-2 # b\nb: 1\n", "2:1", "no space after the colon; write `region: us-west-2`"),
        ("a: 1\nb and c\nd: 1\n", "2:1", "missing colon; write `key: value`"),
        ("- a: 1\n    b: 1\n", "2:5", "indented deeper than line 1, which has a value; align both lines"),
        ("a:\n    b: 1\n    c: 2\n  - b: 3\n", "2:5", "no minus, unlike line 4; add `- `"),
        ("a:\n  - b\n  c: 1\n", "3:3", "missing minus in a list; add one, or"),
    ],
)
def test_a_mistake_is_placed_at_its_cause(source: str, place: str, said: str) -> None:
    [problem] = read_yaml(source.encode()).problems
    assert str(problem.place) == place
    assert f"{problem.message}; {problem.fix}".startswith(said)


def test_an_entry_without_its_minus_is_reported_once() -> None:
    [line] = problems("a:\n  - b: 1\n    c: 2\n    b: 3\n    c: 4\n")
    assert line.endswith("add a minus before line 4 if it starts a new entry, or keep only one")


@pytest.mark.parametrize("source", ["a:\u00a0b", "a: b\u00a0", "\u00a0a: b", "a: [b,\u200bc]", 'a: "\\ud800"'])
def test_a_character_that_looks_like_another_is_reported(source: str) -> None:
    assert [re.search(r"character U\+(00A0|200B|D800) on line 1", line) is not None for line in problems(source)] == [True]
    assert problems("a: 'b\u00a0c'\nd: |\n  e\u00a0f\n") == []


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("a:\n\tb: 1\n", '"b: 1": line 2 is indented with a tab; use spaces'),
        ("a: 1\n  \tb: 1\n", '"b: 1": line 2 is indented with a tab; use spaces'),
        ("a:\n  b:\t1\n", '"b:\\t1": line 2 has a tab in column 5; use spaces'),
    ],
)
def test_a_tab_suggests_spaces(source: str, said: str) -> None:
    assert problems(source) == [said]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("a: 1\nb: é".encode("latin-1"), "invalid UTF-8 byte 0xe9 on line 2; save the file as UTF-8"),
        (b"\xff\xfe\x00", "invalid UTF-8 byte 0x00 on line 1; save the file as UTF-8"),
        (b"a: 1\nb: \x00", "character U+0000 on line 2 is not allowed in YAML; remove it"),
    ],
)
def test_invalid_bytes_are_reported_with_their_place(source: bytes, said: str) -> None:
    assert [str(problem) for problem in read_yaml(source).problems] == [said]


def test_a_long_quoted_key_is_reported_at_once() -> None:
    begin = time.process_time()
    assert read_yaml(f'region: x\n"{"k" * 60_000}": y\n'.encode()).problems
    assert time.process_time() - begin < 2  # 4 s when the search for the cause took the square of the line


@pytest.mark.parametrize("source", ["a: ${Token[TOKEN.5]}", "a: ['#{Token[X.1]}']", "${Token[TOKEN.5]}: a"])
def test_text_that_the_cdk_would_replace_is_rejected(source: str) -> None:
    (problem,) = read_yaml(source.encode()).problems
    assert "is reserved by the CDK for values of templates; write other text" in str(problem)


def test_a_second_document_is_rejected() -> None:
    assert "starts a second document" in problems("a: 1\n---\nb: 2\n")[0]


@pytest.mark.parametrize("tag", ["!!int", "!!binary", "!!timestamp", "!!python/object:os.system", "!Ref"])
def test_tags_are_rejected(tag: str) -> None:
    [line] = problems(f"a: {tag} x")
    assert line.endswith("is not allowed; remove it")


def test_a_tag_of_a_mapping_is_rejected() -> None:
    assert problems("a: !Sub {b: c}") == ['a: "!Sub": tags are not allowed; remove it']


def test_keys_that_are_not_text_are_rejected() -> None:
    assert problems("1: a") == ['"1": key is a number in YAML; put it in quotes']
    assert problems("? [a]\n: b") == ['"?": invalid key on line 1; write `key: value`']


def test_aliases_repeat_their_anchors_value() -> None:
    assert read_yaml(b"a: &x {b: 1}\nc: *x").content == {"a": {"b": 1}, "c": {"b": 1}}


@pytest.mark.parametrize("source", ["a: &a [*a, *a]", "[" * 5000, "a: " + "[" * 40 + "]" * 40])
def test_deep_or_recursive_nesting_is_one_problem(source: str) -> None:
    assert ["exceeds 32 levels" in line for line in problems(source)] == [True]
