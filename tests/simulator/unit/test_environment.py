import os
import subprocess
from pathlib import Path

import pytest

from local_aws.credentials import OWNER
from local_aws.environment import as_shell, aws_environment, shield

USERS = {
    "AWS_PROFILE": "production",
    "AWS_SESSION_TOKEN": "secret",
    "AWS_ENDPOINT_URL_S3": "https://s3.example.com",
    "HTTPS_PROXY": "http://proxy.example.com",
    "http_proxy": "http://proxy.example.com",
    "CDK_DEFAULT_ACCOUNT": "999999999999",
}


@pytest.fixture
def users_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in USERS.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("users_environment")
def test_nothing_of_the_users_settings_is_left(tmp_path: Path) -> None:
    environment = aws_environment("http://127.0.0.1:1", "us-west-2", tmp_path, OWNER)
    assert not set(USERS) & set(environment)
    assert not any(value in environment.values() for value in USERS.values())


# What a shell sets or removes itself.
SET_BY_BASH = ("_", "SHLVL", "PS1")


def test_the_embedded_aws_is_all_that_it_knows(tmp_path: Path) -> None:
    environment = aws_environment("http://127.0.0.1:1", "us-west-2", tmp_path, OWNER)
    assert environment["AWS_ENDPOINT_URL"] == "http://127.0.0.1:1"
    assert {environment["AWS_REGION"], environment["AWS_DEFAULT_REGION"]} == {"us-west-2"}
    assert not Path(environment["AWS_CONFIG_FILE"]).exists()
    assert not Path(environment["AWS_SHARED_CREDENTIALS_FILE"]).exists()
    assert Path(environment["CDK_HOME"]).is_relative_to(tmp_path)
    assert environment["HOME"] == os.environ["HOME"]


@pytest.mark.usefixtures("users_environment")
def test_a_shell_can_take_it_over(tmp_path: Path) -> None:
    environment = aws_environment("http://127.0.0.1:1", "us-west-2", tmp_path / "it's here", OWNER)
    script = f"{as_shell(environment)}\nenv -0"
    shown = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout
    taken = dict(entry.split("=", 1) for entry in shown.split("\0") if entry)
    assert {name: taken.get(name) for name in environment if name not in SET_BY_BASH} == {
        name: value for name, value in environment.items() if name not in SET_BY_BASH
    }
    assert not set(USERS) & set(taken)


def test_taken_over_again_it_says_nothing_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = aws_environment("http://127.0.0.1:1", "us-west-2", tmp_path, OWNER)
    for name in set(os.environ) - set(environment):
        monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    again = aws_environment("http://127.0.0.1:1", "us-west-2", tmp_path, OWNER)
    assert again["PATH"] == environment["PATH"]
    assert as_shell(again) == ""


@pytest.mark.usefixtures("users_environment")
def test_this_process_is_shielded_only_while_it_asks_for_it(tmp_path: Path) -> None:
    with shield(tmp_path):
        assert not set(USERS) & set(os.environ)
        assert os.environ["AWS_EC2_METADATA_DISABLED"] == "true"
    assert {name: os.environ[name] for name in USERS} == USERS
