"""The recorded facts, put to the embedded AWS as if it were an account of AWS."""

import json
from pathlib import Path

import pytest

from local_aws import server
from local_aws.credentials import OWNER
from local_aws.server import EmbeddedAws
from local_aws.testing import REGION, aws, clients_of
from tests.contract.aws_facts.engine import NAMES
from tests.contract.aws_facts.fact import Fact
from tests.verify_aws import facts
from tests.verify_aws.__main__ import main

__all__ = ["aws"]
pytestmark = pytest.mark.local


@pytest.fixture
def account(aws: EmbeddedAws, monkeypatch: pytest.MonkeyPatch) -> EmbeddedAws:
    """The emptied account, as the environment names one."""
    server.reset()
    monkeypatch.setenv("AWS_ENDPOINT_URL", aws.endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", OWNER.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", OWNER.secret_key)
    monkeypatch.setenv("AWS_REGION", REGION)
    return aws


def run(into: Path, *arguments: str) -> int:
    return main(["--region", REGION, "--into", str(into), *arguments])


def test_facts_are_asked_saved_and_nothing_is_left(
    account: EmbeddedAws, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path / "new", "--yes", "--facts", "sfn-name", "lambda-payload") == 0
    saved = json.loads((tmp_path / "new" / "facts.json").read_text())["answers"]
    assert {answer["id"]: answer["answer"] for answer in saved}["sfn-name-ended"] == "ExecutionAlreadyExists"
    assert "everything is deleted" in capsys.readouterr().out
    client = clients_of(account)
    names = [role["RoleName"] for role in client("iam").list_roles()["Roles"]]
    assert not [name for name in names if name.startswith(NAMES)]
    assert client("stepfunctions").list_state_machines()["stateMachines"] == []
    assert client("lambda").list_functions()["Functions"] == []


def test_an_answer_that_differs_is_printed(
    account: EmbeddedAws, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: object) -> str:
        raise ValueError("no")

    wrong = Fact("wrong", "", "", "yes")
    wrong.question = fails
    monkeypatch.setattr(facts, "load", lambda: {"wrong": wrong})
    assert run(tmp_path / "new", "--yes", "--facts") == 1
    assert "DIFFERS wrong: ValueError: no; expected yes" in capsys.readouterr().out


def test_nothing_is_created_without_a_confirmation(
    account: EmbeddedAws, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path / "new", "--facts") == 2
    assert "pass --yes to confirm" in capsys.readouterr().err
    assert clients_of(account)("stepfunctions").list_state_machines()["stateMachines"] == []
