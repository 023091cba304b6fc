"""The region is the file's, else AWS_REGION, as the CLI and the CDK have it, else boto3's."""

from pathlib import Path

import pytest

from cli.access import Access, asked_region
from cli.deployment import Deployment
from cli.errors import CommandError
from cli.preflight.account import session_for
from tests.unit.cli.test_retained import FILE, parsed

WITHOUT = FILE.replace("region: us-west-2\n", "")


@pytest.fixture(autouse=True)
def _no_profile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_PROFILE", raising=False)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")


def test_the_files_region_is_before_the_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    assert session_for(parsed(FILE)).region_name == "us-west-2"
    assert Deployment(parsed(FILE)).region == "us-west-2"


def test_aws_region_is_before_aws_default_region(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    assert session_for(parsed(WITHOUT)).region_name == "us-east-1"
    assert Deployment(parsed(WITHOUT)).region == "us-east-1"


def test_without_aws_region_it_is_botos(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "")
    assert asked_region(None) is None
    assert Deployment(parsed(WITHOUT)).region == "eu-west-1"


def test_the_option_is_before_the_environment_and_never_against_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    assert Deployment(parsed(WITHOUT), access=Access(region="eu-north-1")).region == "eu-north-1"
    assert Deployment(parsed(FILE), access=Access(region="us-west-2")).region == "us-west-2"
    with pytest.raises(CommandError, match="--region eu-north-1: the cluster file has region us-west-2"):
        Deployment(parsed(FILE), access=Access(region="eu-north-1"))


def test_the_profile_is_that_of_the_option(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "config").write_text("[profile ours]\nregion = eu-north-1\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.delenv("AWS_REGION", raising=False)
    assert Deployment(parsed(WITHOUT), access=Access("ours")).region == "eu-north-1"
    assert session_for(parsed(WITHOUT), Access("ours")).region_name == "eu-north-1"
