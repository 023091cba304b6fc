"""What goes to a node and comes back: the plugin reports no exit status, and a terminal changes line ends."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from cli.remote.sessions import PLUGIN, RESPONSE, SessionError, Sessions, Target, install_command, missing_plugin
from cli.remote.shell import Output, SessionManagerShell, ShellError, framed, unframed
from tests.unit.cli.remote.printed import through_a_terminal

TARGET = Target("abc123def456", "workers", "i-0123456789abcdef0")


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
    assert unframed(through_a_terminal(words), "mark", "node") == output


def test_a_session_that_ends_early_is_an_error() -> None:
    with pytest.raises(ShellError, match="ended without the command's end and printed: mark-begin\nhalf"):
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
    program = folder / PLUGIN
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_a_node_that_connects_late_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin(tmp_path, 'test -t 0 || exit 1; test -n "$AWS_SSM_START_SESSION_RESPONSE" && echo "$@"', monkeypatch)
    waits: list[float] = []
    with pytest.raises(ShellError) as error:
        SessionManagerShell(Sessions(Ssm(2), "dev", 60, waits.append)).run(TARGET, "true")
    assert waits == [5, 5]
    assert f'{RESPONSE} us-west-2 StartSession dev {{"Target": "{TARGET}"' in str(error.value)


def test_another_refusal_is_an_error_at_once() -> None:
    with pytest.raises(SessionError, match="StartSession failed: AccessDenied"):
        SessionManagerShell(Sessions(Ssm(1, "AccessDenied"))).run(TARGET, "true")


def test_a_node_that_is_not_connected_is_an_error_at_once_without_a_limit_of_time() -> None:
    with pytest.raises(SessionError, match="agent is not connected") as raised:
        SessionManagerShell(Sessions(Ssm(1))).run(TARGET, "true")
    assert raised.value.fix.startswith("wait until the node is Running")


def test_a_command_that_does_not_end_ends_its_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin(tmp_path, "exec sleep 60", monkeypatch)
    ssm = Ssm(0)
    with pytest.raises(ShellError, match="did not end within 0 s"):
        SessionManagerShell(Sessions(ssm)).run(TARGET, "true", timeout_s=0.3)
    assert ssm.terminated == ["session-1"]


def test_the_plugin_must_be_there_and_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "not in PATH; install it: " in str(missing_plugin())
    plugin(tmp_path, "echo 1.2.497.0", monkeypatch)
    assert "version 1.2.497.0 is older than 1.2.498.0; install it: " in str(missing_plugin())
    plugin(tmp_path, "echo 1.2.707.0", monkeypatch)
    assert missing_plugin() is None


@pytest.mark.parametrize(
    ("system", "machine", "release", "command"),
    [
        (
            "Linux",
            "x86_64",
            {"ID": "debian"},
            "ubuntu_64bit/session-manager-plugin.deb && sudo dpkg -i session-manager-plugin.deb",
        ),
        ("Linux", "aarch64", {"ID": "linuxmint", "ID_LIKE": "ubuntu debian"}, "ubuntu_arm64/session-manager-plugin.deb && sudo"),
        ("Linux", "x86_64", {"ID": "rocky", "ID_LIKE": "rhel centos fedora"}, "sudo yum install -y https://s3.amazonaws.com/"),
        ("Linux", "aarch64", {"ID": "amzn"}, "linux_arm64/session-manager-plugin.rpm"),
        ("Darwin", "x86_64", {}, "latest/mac/session-manager-plugin.pkg && sudo installer -pkg"),
        ("Darwin", "arm64", {}, "mac_arm64/session-manager-plugin.pkg && sudo installer -pkg"),
    ],
)
def test_the_install_command_fits_the_system(system: str, machine: str, release: Mapping[str, str], command: str) -> None:
    assert command in install_command(system, machine, release, has_brew=False)


def test_homebrew_comes_first_on_a_mac() -> None:
    assert install_command("Darwin", "arm64", {}, has_brew=True) == "brew install --cask session-manager-plugin"


@pytest.mark.parametrize(
    ("system", "machine", "release"),
    [("Linux", "riscv64", {"ID": "debian"}), ("Linux", "x86_64", {"ID": "alpine"}), ("Windows", "AMD64", {})],
)
def test_a_system_without_a_package_gets_the_guide(system: str, machine: str, release: Mapping[str, str]) -> None:
    assert install_command(system, machine, release, has_brew=False) == ""
