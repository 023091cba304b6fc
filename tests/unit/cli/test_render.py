"""One renderer prints text for people and one JSON envelope for programs."""

import io
import json
import os
import pty
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cli.__main__ import main
from cli.confirm import prompt
from cli.errors import CommandError
from cli.render import envelope, render
from cli.result import Block, Result, Table, failed
from tests.unit.cli.commands import ARGUMENTS, OPTIONS
from tests.unit.cli.node_actions import samples
from tests.unit.cli.sample_results import SAMPLES

assert samples  # it registers its samples

PROJECT = Path(__file__).parents[3]
HOSTILE = "\x1b[2J\x1b]0;x\x07\r\x9b31m\u202e\u2066\x00"
CONTROLS = set("\x1b\x07\r\x9b\u202e\u2066\x00")
LONG = " ".join(["word"] * 100)
WORDS = {
    "NODE|GROUP": "workers-1",
    "GROUP": "workers",
    "N": "2",
    "CLUSTER": "reference",
    "CLUSTER|FILE": "reference",
    "NODE|GROUP|all": "all",
    "CMD": "true",
    "SRC": "file",
    "DST": "controller:/tmp/",
}
"""A value for each required argument."""
RED = "\x1b[31m"
CODE = f"""
from cli.render import render
from cli.result import Result, Table
text = ("ok  all is well\\nerror  it is not", Table(("NAME", "VALUE"), [("a", "{LONG}"), ("b", "CREATE_FAILED")]))
render("status", Result(dict(), text), "text")
"""


def on_terminal(**variables: str) -> str:
    """What the program above prints on a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    env = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "COLUMNS": "80", **variables}
    subprocess.run([sys.executable, "-c", CODE], cwd=PROJECT, env=env, stdout=theirs, check=True)
    os.close(theirs)
    written = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:
            break
        if not part:
            break
        written += part
    os.close(ours)
    return written.decode()


def test_columns_are_as_wide_as_their_widest_cell() -> None:
    table = Table(("GROUP", "NODES"), [("compute-nodes", "4 of 4"), ("login", "1 of 1")])
    assert str(table) == "GROUP          NODES\ncompute-nodes  4 of 4\nlogin          1 of 1"
    assert str(Table(("A", "B"), [])) == "A  B"


def test_a_pipe_gets_80_columns_without_colours_unless_it_asks_for_more() -> None:
    def piped(**variables: str) -> str:
        env = {"PATH": os.environ["PATH"], **variables}
        return subprocess.run(
            [sys.executable, "-c", CODE], cwd=PROJECT, env=env, capture_output=True, text=True, check=True
        ).stdout

    assert max(map(len, piped().splitlines())) <= 80
    assert f"a     {LONG}\n" in piped(COLUMNS="1000")
    assert "\x1b" not in piped()


def test_a_terminal_gets_colours_and_columns_that_fit_without_losing_text() -> None:
    text = on_terminal()
    assert f"{RED}error" in text
    assert f"{RED}CREATE_FAILED" in text
    assert text.count("word") == LONG.count("word")
    assert max(len(line.rstrip("\r")) for line in on_terminal(NO_COLOR="1").split("\n") if "\x1b" not in line) <= 80


def test_no_color_is_respected() -> None:
    assert RED not in on_terminal(NO_COLOR="1")
    assert "CREATE_FAILED" in on_terminal(NO_COLOR="1")


def test_the_failure_is_on_standard_error_with_any_output(capsys: pytest.CaptureFixture[str]) -> None:
    result = failed(CommandError("no cluster x", "correct the name"))
    render("status", result, "text")
    assert capsys.readouterr() == ("", "no cluster x; correct the name\n")
    render("status", result, "json")
    printed = capsys.readouterr()
    assert printed.err == "no cluster x; correct the name\n"
    assert json.loads(printed.out) == {
        "version": 1,
        "command": "status",
        "data": None,
        "problems": [{"level": "error", "message": "no cluster x", "fix": "correct the name"}],
    }


@pytest.mark.parametrize("level", [None, "warning"])
def test_a_failure_with_data_is_an_error_in_the_envelope(level: str | None) -> None:
    problems = [{"level": level, "message": "old", "fix": None}] if level else []
    document = json.loads(envelope("replace", Result({"a": 1}, (), problems, "replace failed for 1 of 2 nodes")))
    error = {"level": "error", "message": "replace failed for 1 of 2 nodes", "fix": None}
    assert (document["data"], document["problems"]) == ({"a": 1}, [*problems, error])


def test_a_failure_with_an_error_is_reported_once() -> None:
    problems = [{"level": "error", "message": "broken", "fix": None}]
    assert json.loads(envelope("validate", Result({}, (), problems, "1 error")))["problems"] == problems


@pytest.mark.parametrize("command", OPTIONS)
def test_every_command_prints_the_envelope(
    command: str, checkout: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "nonsense")
    monkeypatch.setattr("cli.snapshot.command.synthesize", lambda *_: None)  # tests/snapshots has the CDK
    words = [WORDS[name] for name in ARGUMENTS[command] if name in WORDS]
    options = {"ssh": ["--config"], "init": ["mine"]}.get(command, [])
    main([command, *words, *options, "--output", "json"])
    document = json.loads(capsys.readouterr().out)
    assert list(document) == ["version", "command", "data", "problems"]
    assert (document["version"], document["command"]) == (1, command)


@pytest.mark.parametrize("command", SAMPLES)
def test_no_text_of_a_node_or_a_log_reaches_the_terminal_as_it_is(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for result in SAMPLES[command](tmp_path, monkeypatch):
        capsys.readouterr()
        render(command, hostile(result), "text")
        out, err = capsys.readouterr()
        assert not set(out + err) & CONTROLS
        assert "\\x1b" in out + err


def hostile(result: Result) -> Result:
    """The result with control characters in each text."""

    def block(each: Block) -> Block:
        if isinstance(each, Table):
            return Table(each.head, [[f"{cell}{HOSTILE}" for cell in row] for row in each.rows] or [[HOSTILE] * len(each.head)])
        return f"{each}{HOSTILE}"

    return replace(result, text=[block(each) for each in result.text], failure=f"{result.failure}{HOSTILE}")


def test_json_has_control_characters_as_escapes() -> None:
    document = envelope("nodes", Result({"name": f"{HOSTILE}\ud800"}))
    assert not set(document) & CONTROLS
    assert document.isascii()
    assert json.loads(document)["data"] == {"name": f"{HOSTILE}\ud800"}


def test_a_question_shows_control_characters(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    prompt(f"Replace {HOSTILE}?")
    assert not set(capsys.readouterr().err) & CONTROLS
