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


def test_a_syntax_error_is_reported_with_its_line() -> None:
    [line] = problems("a: 1\nb: [1, 2\nc: 3\n")
    assert "is not YAML at line 3, column 2" in line
    assert "\n" not in line


def test_a_tab_as_indentation_is_reported_with_its_line() -> None:
    [line] = problems("a:\n\tb: 1\n")
    assert "line 2, column 1" in line
    assert "'\\t'" in line


@pytest.mark.parametrize("source", [b"\xff\xfe\x00", b"a: \x00", "a: é".encode("latin-1")])
def test_bytes_that_are_no_text_are_reported_with_their_place(source: bytes) -> None:
    [problem] = read_yaml(source).problems
    assert "is not YAML at" in str(problem)


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
