"""Credentials that expire before the teardown ends would leave the cluster running."""

import os
from datetime import UTC, datetime

import boto3
import pytest

from cli.errors import CommandError
from tests.verify_aws.credentials import expiry_warning

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> boto3.Session:
    """A session with temporary credentials from the environment."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.setenv(name, "x")
    return boto3.Session(region_name="us-west-2")


def test_temporary_credentials_of_the_environment_are_a_warning(session: boto3.Session) -> None:
    assert "AWS_SESSION_TOKEN: may expire before the teardown ends; it must be valid for 90 minutes" in expiry_warning(
        session, 60, NOW
    )


def test_credentials_that_last_are_no_warning(session: boto3.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("AWS_CREDENTIAL_EXPIRATION", "2026-01-01T13:31:00Z")
        assert expiry_warning(session, 60, NOW) == ""
    monkeypatch.delenv("AWS_SESSION_TOKEN")
    assert expiry_warning(boto3.Session(), 60, NOW) == ""


def test_credentials_that_expire_too_early_are_refused(session: boto3.Session, monkeypatch: pytest.MonkeyPatch) -> None:
    session.get_credentials()  # which refuses an expiration in the past
    monkeypatch.setenv("AWS_CREDENTIAL_EXPIRATION", "2026-01-01T13:29:00Z")
    with pytest.raises(CommandError, match=r"AWS_CREDENTIAL_EXPIRATION: expires in 89 minutes; .* 90 minutes: renew"):
        expiry_warning(session, 60, NOW)
