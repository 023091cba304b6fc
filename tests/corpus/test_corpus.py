"""Validate cluster files with one mistake each, and compare the exact output."""

import re
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from cli.__main__ import main
from tests.corpus.__main__ import run
from tests.corpus.case import BASES, Case, CaseError, Topic, all_cases, topics
from tests.corpus.validate_case import output_of, output_of_base, write_files
from validation.catalog import catalog

ALL = all_cases()
PROBLEM = re.compile(r"\S+: (error|warning|info): .*; .*[^.] \[([a-z.-]+)\]")


@pytest.mark.parametrize("case", ALL, ids=lambda case: f"{case.topic}: {case.title}")
def test_a_mistake_is_reported_once_with_a_fix(case: Case) -> None:
    with TemporaryDirectory() as folder:  # tmp_path keeps hundreds of them
        output = output_of(case, Path(folder))
    problems = [line for line in output[:-2] if not line.startswith("    ")]
    assert problems
    assert all(PROBLEM.fullmatch(line) for line in problems), problems
    assert len(problems) == 1 or case.settings("two problems"), problems
    assert output == case.output, "if this is intended: `python -m tests.corpus accept`, and read the diff"


@pytest.mark.parametrize("base", sorted(path.stem for path in BASES.glob("*.yaml")))
def test_the_valid_files_have_no_problems(base: str, tmp_path: Path) -> None:
    assert output_of_base(base, tmp_path) == ("0 errors and 0 warnings in 1 file", "exit status 0")


@pytest.mark.parametrize("case", [topic.cases[0] for topic in topics()], ids=lambda case: case.topic)
def test_the_command_line_says_the_same(case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = write_files(case, tmp_path)
    with chdir(tmp_path):
        status = main(["validate", *files])
    printed = capsys.readouterr()
    assert (*printed.out.splitlines(), *printed.err.splitlines(), f"exit status {status}") == case.output


def test_every_rule_has_a_mistake_that_breaks_it() -> None:
    broken = {match[2] for case in ALL for line in case.output if (match := PROBLEM.fullmatch(line))}
    without = catalog().keys() - broken
    assert not without, f"no case of tests/corpus/cases breaks {', '.join(sorted(without))}; write one each"


def test_there_are_over_150_different_mistakes() -> None:
    assert len(ALL) >= 150
    assert len({case.title for case in ALL}) == len(ALL)
    assert len({(case.source(), case.lines) for case in ALL}) == len(ALL)


def test_a_case_is_shown_by_words_of_its_title(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", "A DUPLICATE SECTION"]) == 0
    shown = capsys.readouterr().out
    assert "   4 network:" in shown
    assert 'network: "network": duplicate key, on lines 4 and 39; keep only one [yaml.duplicate-key]' in shown
    assert run(["show", "no such title"]) == 1


def test_a_change_of_missing_lines_is_an_error() -> None:
    with pytest.raises(CaseError, match=r"'region: mars' occurs 0 times in small.yaml"):
        Case("yaml", "another planet", ("-region: mars", "+region: venus"), ()).source()


@pytest.mark.parametrize("topic", topics(), ids=lambda topic: topic.path.stem)
def test_accepting_changes_only_the_output(topic: Topic) -> None:
    assert topic.text() == topic.path.read_text(encoding="utf-8")
