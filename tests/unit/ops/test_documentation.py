"""Every command is documented."""

import re
from pathlib import Path

import pytest

from local_aws.__main__ import main as local_aws_main
from ops.__main__ import COMMANDS

PROJECT = Path(__file__).parents[3]
COMMANDS_PAGE = (PROJECT / "docs" / "commands.md").read_text()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_operators_command_is_documented_with_what_its_help_says(command: str) -> None:
    assert f"| `python -m ops {command} CLUSTER` | {COMMANDS[command][1]} |" in COMMANDS_PAGE


@pytest.mark.parametrize("target", re.findall(r"^([a-z-]+):.*##", (PROJECT / "Makefile").read_text(), flags=re.MULTILINE))
def test_every_target_of_make_is_documented(target: str) -> None:
    assert target == "help" or f"`make {target}`" in COMMANDS_PAGE


def test_every_command_of_the_embedded_aws_is_documented(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        local_aws_main(["--help"])
    commands = re.findall(r"^    ([a-z]+) ", capsys.readouterr().out, flags=re.MULTILINE)
    assert len(commands) >= 8
    for command in commands:
        assert f"`python -m local_aws {command}" in COMMANDS_PAGE, f"{command} is not in docs/commands.md"
