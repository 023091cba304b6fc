"""What goes to a node and comes back: the plugin reports no exit status, and a terminal changes line ends."""

import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.verify_aws import shell
from tests.verify_aws.node_report import COMMANDS, report_of
from tests.verify_aws.shell import Output, SessionManagerShell, ShellError, Target, framed, unframed

TARGET = Target("abc123def456", "workers", "i-0123456789abcdef0")


def carried_out(command: list[str]) -> str:
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return f"\nStarting session with SessionId: x\n{printed}\nExiting session with sessionId: x.\n".replace("\n", "\r\n")


@pytest.mark.parametrize("way", ["shell", "words"])
@pytest.mark.parametrize(
    ("script", "output"),
    [
        ('echo "it\'s $((1 + 1))"', Output(0, "it's 2\n")),
        ("printf 'no end of line'", Output(0, "no end of line")),
        ("echo out; echo error >&2; exit 7", Output(7, "out\nerror\n")),
        ("cat; echo after", Output(0, "after\n")),
        ("true", Output(0, "")),
    ],
)
def test_output_and_status_come_back(way: str, script: str, output: Output) -> None:
    """However the agent starts the command: with a shell, or as words."""
    command = framed(script, "mark")
    words = ["sh", "-c", command] if way == "shell" else shlex.split(command)
    assert unframed(carried_out(words), "mark", "node") == output


def test_a_session_that_ends_early_is_an_error() -> None:
    with pytest.raises(ShellError, match="ended without the command's end; it printed: mark-begin\nhalf"):
        unframed("mark-begin\r\nhalf\r\n", "mark", "node")


class Ssm:
    """StartSession that refuses a few times."""

    class meta:  # noqa: N801  boto3's name
        region_name, endpoint_url = "us-west-2", "https://ssm.us-west-2.amazonaws.com"

    def __init__(self, refusals: int, code: str = "TargetNotConnected") -> None:
        self.refusals, self.code = refusals, code
        self.terminated: list[str] = []

    def start_session(self, **request: Any) -> Mapping[str, str]:
        if self.refusals:
            self.refusals -= 1
            raise ClientError({"Error": {"Code": self.code, "Message": f"{request['Target']} is not connected."}}, "StartSession")
        return {"SessionId": "session-1", "TokenValue": "token", "StreamUrl": "wss://x", "ResponseMetadata": ""}

    def terminate_session(self, SessionId: str) -> None:  # noqa: N803  AWS's name
        self.terminated.append(SessionId)


def plugin(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / shell.PLUGIN
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_a_node_that_connects_late_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin(tmp_path, 'test -t 0 || exit 1; test -n "$AWS_SSM_START_SESSION_RESPONSE" && echo "$@"', monkeypatch)
    waits: list[float] = []
    with pytest.raises(ShellError) as error:
        SessionManagerShell(Ssm(2), "dev", waits.append).run(TARGET, "true")
    assert waits == [5, 5]
    assert f'{shell.RESPONSE} us-west-2 StartSession dev {{"Target": "{TARGET}"' in str(error.value)


def test_another_refusal_is_an_error_at_once() -> None:
    with pytest.raises(ShellError, match="AccessDenied"):
        SessionManagerShell(Ssm(1, "AccessDenied")).run(TARGET, "true")


def test_a_command_that_does_not_end_ends_its_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin(tmp_path, "exec sleep 60", monkeypatch)
    ssm = Ssm(0)
    with pytest.raises(ShellError, match="did not end within 0 s"):
        SessionManagerShell(ssm).run(TARGET, "true", timeout_s=0.3)
    assert ssm.terminated == ["session-1"]


def test_the_plugin_must_be_there_and_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "not in PATH; install it: https://docs.aws.amazon.com" in shell.missing_plugin()
    plugin(tmp_path, "echo 1.2.497.0", monkeypatch)
    assert "version 1.2.497.0 is too old; install 1.2.498.0 or newer" in shell.missing_plugin()
    plugin(tmp_path, "echo 1.2.707.0", monkeypatch)
    assert shell.missing_plugin() == ""


class ThisMachine:
    """Runs a node's commands here, with the frame that a node needs."""

    def run(self, target: Target, script: str, timeout_s: float = 120.0) -> Output:
        return unframed(carried_out(["sh", "-c", framed(script, "mark")]), "mark", str(target))


def test_a_report_has_every_command_and_the_files_that_exist() -> None:
    report = report_of(ThisMachine(), TARGET)
    assert report.commands.keys() == COMMANDS.keys()
    assert report.files["/etc/os-release"] == Path("/etc/os-release").read_text()
    assert report.commands["kernel"] == subprocess.run(["uname", "-r"], capture_output=True, text=True, check=True).stdout
    assert report.commands["sinfo"].endswith("[exit status 127]\n") or "PARTITION" in report.commands["sinfo"]
