"""The command line for schedules: a valid file is run, an invalid one gets one clear error."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.soak.command import main
from tests.soak.richness import Richness
from tests.soak.stack_run import Outcome

PROJECT = Path(__file__).parents[2]
GOOD = [{"op": "deploy", "file": "four"}, {"op": "wait", "seconds": 59}, {"op": "cancel"}, {"op": "settle"}]
FAULT = {"op": "fault", "function": "step", "call": "CreateCluster", "kind": "die_after"}


def door(tmp_path: Path, content: str) -> tuple[int, Path]:
    path = tmp_path / "schedule.json"
    path.write_text(content)
    return main(["--schedule", str(path)]), path


def test_a_schedule_can_be_run_against_a_planted_defect() -> None:
    """Run in another process, because a planted defect stays."""
    throttle = {**FAULT, "kind": "refuse", "code": "ThrottlingException"}
    command = [sys.executable, "-m", "tests.soak", "--defect", "a throttle is fatal", "--schedule", "/dev/stdin"]
    ran = subprocess.run(command, input=json.dumps([throttle, *GOOD]), text=True, capture_output=True, cwd=PROJECT, check=False)
    assert ran.returncode == 1, ran.stdout
    assert "needless failure" in ran.stdout


def test_a_run_without_schedules_fails(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--examples", "0"])
    assert "must be a number of schedules above 0, got 0" in capsys.readouterr().err


def test_a_schedule_from_a_file_is_printed_step_by_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, _ = door(tmp_path, json.dumps([FAULT, *GOOD]))
    said = capsys.readouterr().out
    assert status == 0
    assert "request-1 Create (deploy, four)" in said
    assert '"kind": "die_after"' in said
    assert "0 violations" in said


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("{", "is no JSON"),
        ('{"op": "deploy"}', 'a schedule is a list of operations, got {"op": "deploy"}; put them into [ ]'),
        ('[{"op": "deplyo"}]', "operation 0: op must be one of deploy, destroy"),
        ('["deploy"]', "operation 0: op must be one of"),
        ('[{"op": "deploy", "file": "seven"}]', "operation 0: file of deploy must be one of 'four', 'six'"),
        ('[{"op": "deploy"}]', "operation 0: file of deploy must be one of 'four', 'six'"),
        ('[{"op": "wait", "seconds": -1}]', "operation 0: seconds of wait must be a number from 0 to 4000, got -1; correct it"),
        ('[{"op": "wait"}]', "operation 0: seconds of wait must be a number from 0 to 4000, got null"),
        ('[{"op": "settle", "seconds": 1}]', "operation 0: settle takes nothing, got 'seconds'; remove it"),
        ('[{"op": "deliver", "delays": [true]}]', "delays of deliver must be a list of one to four numbers"),
        ('[{"op": "release", "newer": 1}]', "operation 0: newer of release must be true or false, got 1; correct it"),
        ('[{"op": "fault", "function": "step", "call": "PUT", "kind": "explode"}]', "kind of fault must be one of 'die'"),
    ],
)
def test_a_bad_schedule_gets_one_clear_error(
    content: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, path = door(tmp_path, content)
    said = capsys.readouterr().err
    assert status == 2
    assert expected in said
    assert said.startswith(f"error: {path}")
    assert said.count("\n") == 1


def test_a_missing_file_gets_one_clear_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--schedule", str(tmp_path / "none.json")]) == 2
    assert "none.json cannot be read (No such file or directory); name a file" in capsys.readouterr().err


def outcome(**more: Any) -> Outcome:
    plain: dict[str, Any] = {"violations": [], "calls": 20, "has_crash": True, "has_disorder": True, "has_rollback": True}
    return Outcome(**{**plain, "story": [], **more})


def test_schedules_that_cover_too_little_are_named() -> None:
    richness = Richness()
    for _ in range(10):
        richness.add(outcome(calls=3, has_crash=False))
    assert richness.poor() == ["API calls", "crash"]
    rich = Richness()
    rich.add(outcome())
    assert rich.poor() == []
