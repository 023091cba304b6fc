"""A wrong command line is refused with exit code 2 and a plain reason; help, version and completion are quick."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli import __version__
from cli.__main__ import main
from cli.help import SECTIONS
from tests.unit.cli.commands import COMMANDS, HELP

PROJECT = Path(__file__).parents[3]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("validat reference", "Error: No such command 'validat'. Did you mean 'validate'?"),
        ("--clusters x validate", "Error: No such option: --clusters"),
        ("validate --cluster x", "Error: No such option: --cluster (Possible options: --clusters)"),
        ("cost one two", "Error: Got unexpected extra argument(s) (two)"),
        ("preflight", "Error: Missing argument 'CLUSTER|FILE'."),
    ],
)
def test_a_wrong_command_line_is_refused_with_a_reason(words: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.startswith("Usage: hpod ")


def test_without_a_command_the_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "continue-rollback" in "".join(capsys.readouterr())


def test_help_lists_every_command_in_80_columns_without_cutting_any_off(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    for name, text in HELP.items():
        assert any(line.split(maxsplit=1) == [name, text] for line in lines), name
    assert any("Exit codes: 0 " in line for line in lines)


def test_help_lists_every_command_once_in_the_section_of_its_module(capsys: pytest.CaptureFixture[str]) -> None:
    assert {command.callback.__module__ for command in COMMANDS.values()} == SECTIONS.keys()
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    sections = {title: shown.partition(f"\n{title}:\n")[2].partition("\n\n")[0].splitlines() for title in SECTIONS.values()}
    for name, command in COMMANDS.items():
        own = SECTIONS[command.callback.__module__]
        assert [title for title, lines in sections.items() if any(line.split()[0] == name for line in lines)] == [own]


@pytest.mark.parametrize("command", ["validate", "import", "drain", "run", "scale"])
def test_help_shows_no_types_of_python(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    arguments = capsys.readouterr().out.partition("\nArguments:\n")[2].partition("\n\n")[0]
    assert arguments
    assert "<" not in arguments


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"hyperpod-cdk {__version__}\n"


def test_help_starts_in_half_a_second_without_reading_cluster_files_or_aws() -> None:
    code = "import sys; from cli.__main__ import main; main(['--help']); print(*sys.modules, file=sys.stderr)"
    times = []
    for _ in range(5):
        before = os.times()
        ran = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
        after = os.times()
        times.append(after.children_user + after.children_system - before.children_user - before.children_system)
    assert {"boto3", "yaml", "pydantic", "rich"}.isdisjoint(ran.stderr.split())
    assert min(times) < 0.5


def test_names_of_clusters_are_completed(checkout: Path) -> None:
    line = {"_HPOD_COMPLETE": "complete_bash", "COMP_WORDS": "hpod status ref", "COMP_CWORD": "2", "PYTHONPATH": str(PROJECT)}
    command = [sys.executable, "-c", "import sys; from cli.__main__ import main; sys.exit(main())"]
    ran = subprocess.run(command, env={**os.environ, **line}, cwd=checkout, capture_output=True, text=True, check=False)
    assert ran.stdout.split() == ["reference"]


def test_ctrl_c_ends_a_command_quietly(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(**_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("cli.validate.validate", interrupted)
    assert main(["validate"]) == 130
    assert capsys.readouterr() == ("", "")
