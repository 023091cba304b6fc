"""What cannot be asked of AWS is one line with a remedy, and exit status 1."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from botocore.exceptions import ClientError, SSOTokenLoadError

from cli.__main__ import main
from cli.aws_errors import explained, is_ours
from tests.web_server import Handler, serving

KEYS = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
DEMO = '`make demo` and then `eval "$(.venv/bin/python -m local_aws env)"` for the embedded AWS'


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, checkout: Path) -> None:
    """Without credentials, profiles, proxies and a way to find any."""
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", *KEYS, "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("NO_PROXY", "*")


@pytest.fixture
def dead_endpoint() -> Iterator[str]:
    """Where nothing listens, and nothing will while the test runs: the port is taken, without being listened at."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}"


class Portal(Handler):
    """Answers everything with a page, as the portal of a network does before one has signed in."""

    def do_POST(self) -> None:  # noqa: N802  as http.server names it
        """Answer."""
        self.body()
        self.answer(200, b"<html><body>Sign in</body></html>")


@pytest.fixture
def portal() -> Iterator[str]:
    """The address of one."""
    with serving(Portal) as address:
        yield address


def said(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that the command says on its way to exit status 1."""
    assert main(["status", "reference"]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    [line] = shown.err.splitlines()
    return line


def test_without_credentials(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys) == ("cannot run `status`: Unable to locate credentials; run `aws sso login` or `aws configure`")


def test_an_endpoint_at_which_nothing_answers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, dead_endpoint: str
) -> None:
    for name, value in {**KEYS, "AWS_ENDPOINT_URL": dead_endpoint}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    line = said(capsys)
    assert line.endswith(f"; AWS_ENDPOINT_URL is {dead_endpoint}: run {DEMO}, or open a new shell for an AWS account")


def test_a_page_in_the_place_of_an_answer(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, portal: str
) -> None:
    for name, value in {**KEYS, "AWS_ENDPOINT_URL": portal}.items():
        monkeypatch.setenv(name, value)
    line = said(capsys)
    assert line.startswith(f"cannot run `status`: the endpoint that answers is not AWS; AWS_ENDPOINT_URL is {portal}: run ")


def test_a_fault_of_this_program_is_not_taken_for_a_page() -> None:
    with pytest.raises(KeyError) as ours:
        raise KeyError("ours")
    assert is_ours(ours.value)


def test_an_endpoint_that_is_none(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {**KEYS, "AWS_ENDPOINT_URL": "nonsense"}.items():
        monkeypatch.setenv(name, value)
    assert said(capsys) == "Invalid endpoint: nonsense; set AWS_ENDPOINT_URL to a URL, or unset it"


def test_a_profile_that_is_none(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nope")
    assert said(capsys).endswith("; choose a profile that `aws configure list-profiles` lists")


def test_a_profile_whose_program_is_not_there(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "AWS_CONFIG_FILE").write_text("[default]\ncredential_process = /nonexistent/program\n")
    assert said(capsys).endswith("; correct the profile in ~/.aws/config, or choose another with --profile")


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (SSOTokenLoadError(error_msg="no\ntoken"), "run `aws sso login`"),
        (
            ClientError({"Error": {"Code": "ExpiredTokenException"}}, "X"),
            "run `aws sso login`, or use other credentials",
        ),
        (
            ClientError({"Error": {"Code": "AccessDenied"}}, "X"),
            "use a role with this permission; `aws sts get-caller-identity` prints the current one",
        ),
    ],
)
def test_a_refusal_has_its_remedy(error: Exception, remedy: str) -> None:
    line = str(explained("nodes", error))
    assert line.startswith("cannot run `nodes`: ")
    assert line.endswith(f"; {remedy}")
    assert "\n" not in line
