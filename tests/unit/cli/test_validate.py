"""What is said of cluster files on the command line, before anything is deployed."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from cli.__main__ import main
from tests.cluster_files import EXAMPLES, PROJECT, REFERENCE
from validation.report import FORMATS

Validate = Callable[..., tuple[int, str, str]]


@pytest.fixture
def validate(capsys: pytest.CaptureFixture[str], checkout: Path) -> Validate:
    def run(*arguments: object) -> tuple[int, str, str]:
        status = main(["validate", *map(str, arguments)])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """A file with two mistakes: its zone and a count."""
    file = tmp_path / "wrong.yaml"
    file.write_text(REFERENCE.read_text().replace("usw2-az4", "use1-az4").replace("instance_count: 4", "instance_count: -4"))
    return file


def test_the_reference_is_found_right(validate: Validate) -> None:
    assert validate("reference") == (0, "0 errors and 0 warnings in 1 file\n", "")
    assert validate(REFERENCE) == (0, "0 errors and 0 warnings in 1 file\n", "")


def test_without_a_name_all_files_of_the_folder_are_checked(validate: Validate) -> None:
    status, said, _ = validate("--clusters", EXAMPLES, "--output", "json")
    found = json.loads(said)
    assert (status, len(found["data"]["files"])) == (0, 7)
    assert [(Path(each["file"]).stem, each["rule"]) for each in found["problems"]] == [
        ("eks-p5", "no-admins"),
        ("eks", "no-admins"),
    ]


def test_files_and_names_go_together_and_one_mistake_fails_them_all(validate: Validate, wrong: Path) -> None:
    status, said, counted = validate("reference", wrong, "--output", "json")
    assert (status, counted) == (1, "2 errors and 0 warnings in 2 files\n")
    assert json.loads(said)["data"]["files"] == ["clusters/reference.yaml", str(wrong)]


@pytest.mark.parametrize("name", ["referense", "nowhere.yaml", "clusters/referense.yaml", "clusters/reference.yml"])
@pytest.mark.parametrize("form", [*FORMATS, "json"])
def test_a_missing_file_is_reported_in_every_format(validate: Validate, name: str, form: str) -> None:
    status, said, counted = validate(name, "--output", form)
    assert (status, counted) == (1, "1 error and 0 warnings in 1 file\n")
    assert "file.unreadable" in said


@pytest.mark.parametrize("name", ["clusters", "clusters/", "examples/clusters"])
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_folder_in_place_of_a_file_is_reported_with_its_option(validate: Validate, name: str, form: str) -> None:
    status, said, counted = validate(name, "--output", form)
    assert (status, counted) == (1, "1 error and 0 warnings in 1 file\n")
    assert f"pass --clusters {name}" in said


def test_a_file_that_is_named_twice_is_one(validate: Validate) -> None:
    once = "0 errors and 0 warnings in 1 file\n"
    assert validate("reference", "reference") == (0, once, "")
    assert validate("reference", "clusters/reference.yaml") == (0, once, "")
    assert validate("clusters/reference.yaml", "./clusters/reference.yaml") == (0, once, "")


def test_warnings_end_it_only_where_that_is_asked_for(validate: Validate, tmp_path: Path) -> None:
    file = tmp_path / "small.yaml"
    file.write_text(REFERENCE.read_text().replace("ml.trn1.32xlarge", "ml.trn9.32xlarge"))
    assert validate(file)[0] == 0
    status, _, counted = validate(file, "--strict")
    assert (status, counted) == (1, "0 errors and 1 warning in 1 file\n")
    file.write_text(file.read_text() + "suppress:\n  - {rule: known-instance-type, reason: HyperPod has it since May}\n")
    assert validate(file, "--strict")[0] == 0


def test_a_format_that_there_is_not_is_answered_with_those_that_there_are(validate: Validate) -> None:
    status, _, message = validate("reference", "--output", "xml")
    assert status == 2
    assert "'xml' is not one of 'text', 'json', 'github', 'sarif'" in message


def seconds(file: Path) -> float:
    """The processor time of one run: it is the wall's time where nobody else computes."""
    before = os.times()
    subprocess.run([sys.executable, "-m", "cli", "validate", file], cwd=PROJECT, capture_output=True, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def test_the_reference_takes_under_a_second_and_a_hundred_groups_half_as_much_again(tmp_path: Path) -> None:
    content = yaml.safe_load(REFERENCE.read_text())
    content["instance_groups"] += [
        {**content["instance_groups"][2], "name": f"compute-{index}", "partition": f"part-{index}"} for index in range(97)
    ]
    large = tmp_path / "large.yaml"
    large.write_text(yaml.safe_dump(content, sort_keys=False))
    took: dict[Path, list[float]] = {REFERENCE: [], large: []}
    for _ in range(12):  # others compute beside: the least of interleaved runs counts, and three are enough where they say so
        for file, runs in took.items():
            runs.append(seconds(file))
        if len(took[large]) >= 3 and min(took[large]) < 1.5 * min(took[REFERENCE]):
            break
    assert min(took[REFERENCE]) < 1.0
    assert min(took[large]) < 1.5 * min(took[REFERENCE])
