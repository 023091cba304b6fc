"""The command line for schedules: a valid file is run, an invalid one gets one clear error."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.soak.command import main

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
        ('[{"op": "deplyo"}]', "operation 0: op must be one of 'deploy', 'destroy'"),
        ('[{"op": "deploy", "file": "seven"}]', "operation 0: file must be one of 'four', 'six'"),
        ('[{"op": "settle", "seconds": 1}]', "operation 0: settle has no field 'seconds'; it has op"),
        ('[{"op": "fault", "function": "step", "call": "PUT", "kind": "explode"}]', "kind must be one of 'die'"),
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
