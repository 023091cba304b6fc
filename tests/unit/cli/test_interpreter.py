"""A Python without our packages is answered in one line: `-S` hides what is installed."""

import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[3]


@pytest.mark.parametrize("command", [("cli", "status", "reference"), ("local_aws", "up"), ("local_aws", "demo")])
def test_a_python_outside_the_venv_is_pointed_to_the_right_one(command: tuple[str, ...]) -> None:
    ran = subprocess.run(
        [sys.executable, "-S", "-m", *command], cwd=PROJECT, capture_output=True, text=True, check=False, timeout=60
    )
    assert (ran.returncode, ran.stdout) == (1, "")
    [line] = ran.stderr.splitlines()
    assert line.startswith(f"{sys.executable} has no boto3, ")
    program = {"cli": "./hpod", "local_aws": ".venv/bin/python -m local_aws"}[command[0]]
    assert line.endswith(f"; run `make setup`, then `{program}`")
