"""Whether the caller's credentials last until the teardown ends."""

import os
from datetime import datetime

import boto3

from cli.errors import CommandError

TEARDOWN_MINUTES = 30


def expiry_warning(session: boto3.Session, minutes: int, now: datetime) -> str:
    """Return a warning if credentials of the environment may expire too early; raise CommandError if they do."""
    credentials = session.get_credentials()
    if credentials is None or credentials.method != "env" or not os.environ.get("AWS_SESSION_TOKEN"):
        return ""  # long-lived, or renewed by their profile
    needed = minutes + TEARDOWN_MINUTES
    expiration = os.environ.get("AWS_CREDENTIAL_EXPIRATION")
    if not expiration:
        return f"  warning   AWS_SESSION_TOKEN: may expire before the teardown ends; it must be valid for {needed} minutes"
    left = (datetime.fromisoformat(expiration) - now).total_seconds() / 60
    if left < needed:
        raise CommandError(
            f"AWS_CREDENTIAL_EXPIRATION: expires in {left:.0f} minutes; the run may take {needed} minutes: renew the credentials"
        )
    return ""
