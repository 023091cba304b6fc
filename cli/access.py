"""Access to AWS: the profile and region of calls, and the account of the credentials."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cli.errors import CommandError

if TYPE_CHECKING:
    from config.model import ClusterConfig


@dataclass(frozen=True)
class Access:
    """The options --profile and --region."""

    profile: str | None = None
    region: str | None = None

    def region_of(self, named: str | None) -> str | None:
        """Return the file's region, or else the option's or the environment's."""
        if named and self.region and named != self.region:
            raise CommandError(
                f"--region {self.region}: the cluster file has region {named}", "remove --region, or correct the file"
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
    """Return a client for the service; raise a CommandError if the environment's endpoint is not a URL."""
    try:
        return session.client(service, **options)
    except ValueError as error:
        raise CommandError(str(error), "set AWS_ENDPOINT_URL to a URL, or unset it") from error


def check_account(config: "ClusterConfig", file: object, sts: Any) -> None:
    """Raise a CommandError if the credentials are for another account; without `account` in the file, ask nothing."""
    if config.account is None:
        return
    identity = sts.get_caller_identity()
    if "Account" not in identity:
        from cli.aws_errors import not_aws  # noqa: PLC0415  imports botocore, which help does not need

        raise not_aws("cannot check the account")
    compare_account(config, file, str(identity["Account"]))


def compare_account(config: "ClusterConfig", file: object, account: str) -> None:
    """Raise a CommandError if the file is for another account than this one."""
    if config.account not in (None, account):
        raise CommandError(
            f"{file}: account: the file is for account {config.account}, but your credentials are for account {account}",
            f"pass --profile or set AWS_PROFILE to a profile of {config.account}, or correct `account`",
        )
