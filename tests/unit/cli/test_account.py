"""Credentials of another account than the file's are reported before anything else is asked."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from cli.__main__ import main
from tests.cluster_files import REFERENCE
from tests.unit.cli.commands import EXAMPLES, OPTIONS
from tests.unit.cli.import_cluster.originals import DATA
from tests.web_server import Handler, serving

THEIRS, OURS = "999999999999", "123456789012"
MORE = {"cost": ["--live"]}
# An import reads its cluster first, and a list has files of several accounts: they have tests of their own.
ASKING = [name for name, options in OPTIONS.items() if "--profile" in options and name not in ("import", "list")]
IDENTITY = f"""<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>
<Arn>arn:aws:iam::{OURS}:user/us</Arn><UserId>AIDA</UserId><Account>{OURS}</Account>
</GetCallerIdentityResult><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></GetCallerIdentityResponse>"""


class Aws(Handler):
    """Knows whose credentials these are, and refuses everything else."""

    asked: list[str]

    def do_POST(self) -> None:  # noqa: N802  as http.server names it
        """Answer."""
        action = parse_qs(self.body().decode()).get("Action", [self.headers.get("X-Amz-Target", "")])[0]
        self.asked.append(action)
        if action == "GetCallerIdentity":
            self.answer(200, IDENTITY.encode())
        else:
            self.answer(400, b'{"__type": "ValidationException", "message": "no"}')


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What is asked of AWS, whose credentials are ours."""
    handler = type("Asked", (Aws,), {"asked": []})
    with serving(handler) as address:
        monkeypatch.delenv("AWS_PROFILE", raising=False)
        variables = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "NO_PROXY": "*", "AWS_MAX_ATTEMPTS": "1"}
        for name, value in {**variables, "AWS_ENDPOINT_URL": address}.items():
            monkeypatch.setenv(name, value)
        yield handler.asked  # type: ignore[attr-defined]


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A file for another account."""
    file = tmp_path / "prod.yaml"
    file.write_text(f'account: "{THEIRS}"\n' + REFERENCE.read_text())
    return file


def said(file: Path) -> str:
    return (
        f"{file}: account: the file is for account {THEIRS}, but your credentials are for account {OURS}; "
        f"pass --profile or set AWS_PROFILE to a profile of {THEIRS}, or correct `account`\n"
    )


@pytest.mark.parametrize("command", ASKING)
def test_every_command_that_calls_aws_reports_it_and_asks_nothing_else(
    command: str, asked: list[str], theirs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = MORE.get(command) or shlex.split(EXAMPLES[command][0])[2:]  # what the example has after the cluster
    assert main([command, "prod", "--clusters", str(theirs.parent), *words]) == 1
    assert capsys.readouterr() == ("", said(theirs))
    assert asked == ["GetCallerIdentity"]


def test_an_import_over_a_file_of_another_account_reports_it(
    asked: list[str], theirs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["import", "--from-cluster", "ml", "--region", "us-west-2", "--write", str(theirs), "--force"]
    assert main(words) == 1
    assert capsys.readouterr() == ("", said(theirs))
    assert asked == ["GetCallerIdentity"]


def test_an_import_of_files_asks_nothing(asked: list[str], theirs: Path) -> None:
    pair = [str(DATA / "login-node" / name) for name in ("create_cluster.json", "provisioning_parameters.json")]
    assert main(["import", *pair, "--write", str(theirs), "--force"]) == 0
    assert asked == []


@pytest.mark.parametrize("account", [f'account: "{OURS}"\n', ""])
def test_the_right_account_and_a_file_without_one_go_on(
    account: str, asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "prod.yaml").write_text(account + REFERENCE.read_text())
    assert main(["outputs", "prod", "--clusters", str(tmp_path)]) == 1
    assert "your credentials are for" not in capsys.readouterr().err
    assert asked == [*(["GetCallerIdentity"] if account else []), "DescribeStacks"]


def test_a_file_is_also_named_by_its_path(asked: list[str], theirs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status", str(theirs)]) == 1
    assert capsys.readouterr() == ("", said(theirs))
    assert asked == ["GetCallerIdentity"]
