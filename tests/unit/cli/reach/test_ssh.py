"""`hpod ssh` gives its terminal to the plugin, in a session on the chosen node."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest

from cli.errors import CommandError
from cli.reach.ssh import ssh
from cli.remote.sessions import SessionError
from tests.unit.cli.fake_nodes import FakeNodes

ENTRY, WORKER = "entry-i-0000000000000000b", "workers-i-0000000000000000c"


class Account(FakeNodes):
    """An account that starts sessions."""

    class meta:  # noqa: N801  boto3's name
        region_name, endpoint_url = "us-west-2", "https://ssm.us-west-2.amazonaws.com"

    def start_session(self, **request: Any) -> dict[str, Any]:
        self.request = request
        return {"SessionId": "session-1", "TokenValue": "token", "StreamUrl": "wss://x"}


@pytest.fixture
def called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with the plugin's arguments, one on a line, and the signals that it ignores."""
    program, called = tmp_path / "session-manager-plugin", tmp_path / "called"
    program.write_text(
        '#!/bin/sh\n[ "$1" != --version ] || { echo 1.2.707.0; exit 0; }\n'
        f'printf "%s\\n" "$@" "$AWS_SSM_START_SESSION_RESPONSE" >{called}\nexit ${{PLUGIN_STATUS:-0}}\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    return called


def test_the_default_is_roots_shell_on_the_login_node(called: Path) -> None:
    account = Account()
    result = ssh(account.deployment(), node=None, user=None)
    assert account.request == {"Target": f"sagemaker-cluster:abcdefghijkl_{ENTRY}"}
    variable, region, operation, profile, request, endpoint, response = called.read_text().splitlines()
    assert (variable, region, operation, profile) == ("AWS_SSM_START_SESSION_RESPONSE", "us-west-2", "StartSession", "")
    assert (json.loads(request), endpoint) == (account.request, Account.meta.endpoint_url)
    assert json.loads(response)["TokenValue"] == "token"
    assert (result.data, result.failure) == (None, "")


def test_a_user_gets_a_login_shell(called: Path) -> None:
    account = Account()
    ssh(account.deployment(), node="ip-10-1-0-9", user="alice")
    assert account.request == {
        "Target": f"sagemaker-cluster:abcdefghijkl_{WORKER}",
        "DocumentName": "AWS-StartInteractiveCommand",
        "Parameters": {"command": ["sudo su - alice"]},
    }
    assert called.exists()


def test_ctrl_c_is_ours_again_after_the_session(called: Path) -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        ssh(Account().deployment(), node=None, user=None)
        assert signal.getsignal(signal.SIGINT) == signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_session_that_fails_is_an_error(called: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLUGIN_STATUS", "9")
    with pytest.raises(SessionError, match="i-0000000000000000b: the session ended with exit status 9"):
        ssh(Account().deployment(), node=None, user=None)


@pytest.mark.parametrize("user", ["alice; reboot", "-x", "$(id)"])
def test_a_user_name_is_no_command(called: Path, user: str) -> None:
    with pytest.raises(CommandError, match="not a user name"):
        ssh(Account().deployment(), node=None, user=user)
    assert not called.exists()


def test_without_the_plugin_the_error_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CommandError, match="session-manager-plugin: not in PATH; install it: "):
        ssh(Account().deployment(), node=None, user=None)
