"""The profile and region of AWS calls."""

import os
from dataclasses import dataclass
from typing import Any

from cli.errors import CommandError


@dataclass(frozen=True)
class Access:
    """The options --profile and --region."""

    profile: str | None = None
    region: str | None = None

    def region_of(self, named: str | None) -> str | None:
        """Return the file's region, or else the option's or the environment's."""
        if named and self.region and named != self.region:
            raise CommandError(
                f"--region {self.region}: the cluster file has region {named}; remove --region, or correct the file"
            )
        return asked_region(named or self.region)


def asked_region(named: str | None) -> str | None:
    """Return the region of the file or an option, or else AWS_REGION; None leaves it to AWS_DEFAULT_REGION and the profile.

    The AWS CLI and the CDK take AWS_REGION first, and boto3 ignores it:
    https://docs.aws.amazon.com/sdkref/latest/guide/feature-region.html
    """
    return named or os.environ.get("AWS_REGION") or None


ENVIRONMENT = Access()
"""The access of the environment only."""


def client_of(session: Any, service: str, **options: str) -> Any:
    """Return a client for the service; raise an CommandError if the environment's endpoint is not a URL."""
    try:
        return session.client(service, **options)
    except ValueError as error:
        raise CommandError(f"{error}; set AWS_ENDPOINT_URL to a URL, or unset it") from error
