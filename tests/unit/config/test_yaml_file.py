import pytest

from config.yaml_file import read_yaml


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


def test_a_key_given_twice_is_reported_with_both_lines() -> None:
    assert problems("a:\n  b: 1\n  c: 2\n  b: 3\n") == ['a.b: "b": is given twice, in lines 2 and 4; keep one of them']


def test_every_key_given_twice_is_reported() -> None:
    assert len(problems("a: 1\na: 2\nb: 1\nb: 2\na: 3\n")) == 3


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (
            "a: 1\nb: [1, 2\nc: 3\n",
            "\"c: 3\": is not YAML at line 3, column 2: expected ',' or ']', but got ':'; close the [ of line 2, column 4",
        ),
        (
            "b:\n  - {x: 1\nc: 3\n",
            "\"c: 3\": is not YAML at line 3, column 2: expected ',' or '}', but got ':'; close the { of line 2, column 5",
        ),
        (
            'a: "1\nb: 2\nc: 3\n',
            '"a: \\"1": is not YAML at line 4, column 1: found unexpected end of stream; close the quote of line 1, column 4',
        ),
        (
            "a:\n    b: 1\n  c: 2\n",
            '"c: 2": is not YAML at line 3, column 3: it is indented like no line above it since line 1; '
            "align it with the lines of its section",
        ),
    ],
)
def test_a_syntax_error_is_reported_with_the_line_in_which_it_began(source: str, said: str) -> None:
    assert problems(source) == [said]


def test_a_syntax_error_that_began_where_nobody_knows_points_at_the_line_before_too() -> None:
    [line] = problems("region us-west-2\nnetwork:\n  a: 1\n")
    assert "at line 2, column 8: " in line
    assert line.endswith("; check the indentation, colons and quotes there and in the line before")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("a:\n\tb: 1\n", '"b: 1": line 2 is indented with a tab; use spaces'),
        ("a: 1\n  \tb: 1\n", '"b: 1": line 2 is indented with a tab; use spaces'),
        ("a:\n  b:\t1\n", '"b:\\t1": line 2 has a tab in column 5; use spaces'),
    ],
)
def test_a_tab_is_answered_with_spaces(source: str, said: str) -> None:
    assert problems(source) == [said]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("a: 1\nb: é".encode("latin-1"), "the file is not text in UTF-8, byte 0xe9 in line 2 is not; save it as UTF-8"),
        (b"\xff\xfe\x00", "the file is not text in UTF-8, byte 0x00 in line 1 is not; save it as UTF-8"),
        (b"a: 1\nb: \x00", "line 2 holds the character U+0000, which no YAML file can; remove it"),
    ],
)
def test_bytes_that_are_no_text_are_reported_with_their_place(source: bytes, said: str) -> None:
    assert [str(problem) for problem in read_yaml(source).problems] == [said]


def test_a_second_document_is_refused() -> None:
    assert "expected a single document" in problems("a: 1\n---\nb: 2\n")[0]


@pytest.mark.parametrize("tag", ["!!int", "!!binary", "!!timestamp", "!!python/object:os.system", "!Ref"])
def test_tags_are_refused(tag: str) -> None:
    [line] = problems(f"a: {tag} x")
    assert line.endswith("which cluster files do not use; remove it")


def test_a_tag_of_a_mapping_is_refused() -> None:
    assert problems("a: !Sub {b: c}") == ['a: "!Sub": is a tag, which cluster files do not use; remove it']


def test_keys_that_are_no_words_are_refused() -> None:
    assert problems("1: a") == ['"1": is a key that is read as int, and keys are words; put it in quotes']
    assert problems("? [a]\n: b") == ['"?": a key in line 1 is no word; write `key: value`']


def test_aliases_repeat_what_their_anchor_holds() -> None:
    assert read_yaml(b"a: &x {b: 1}\nc: *x").content == {"a": {"b": 1}, "c": {"b": 1}}


@pytest.mark.parametrize("source", ["a: &a [*a, *a]", "[" * 5000, "a: " + "[" * 40 + "]" * 40])
def test_what_is_nested_too_deep_or_in_itself_ends_in_one_problem(source: str) -> None:
    assert ["is nested over 32 levels deep" in line for line in problems(source)] == [True]


def test_half_a_character_is_refused() -> None:
    assert problems('a: "\\ud800"') == ['a: "?": holds half a character; write the character itself']
