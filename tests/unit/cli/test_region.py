"""The region is the file's, else AWS_REGION, as the CLI and the CDK have it, else boto3's."""

import pytest

from cli.deployment import Deployment
from cli.preflight.account import session_for
from cli.region import asked_region
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
