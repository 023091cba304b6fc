"""The account of the credentials must be the one that the cluster file names."""

from typing import Any

from cli.aws_errors import not_aws
from cli.errors import CommandError
from config.model import ClusterConfig


def check_account(config: ClusterConfig, file: object, sts: Any) -> None:
    """Raise an CommandError if the credentials are for another account; without `account` in the file, ask nothing."""
    if config.account is None:
        return
    identity = sts.get_caller_identity()
    if "Account" not in identity:
        raise CommandError(f"cannot check the account: {not_aws()}")
    compare_account(config, file, str(identity["Account"]))


def compare_account(config: ClusterConfig, file: object, account: str) -> None:
    """Raise an CommandError if the file is for another account than this one."""
    if config.account not in (None, account):
        raise CommandError(
            f"{file}: account: the file is for account {config.account}, but your credentials are for account {account}; "
            f"pass --profile or set AWS_PROFILE to a profile of {config.account}, or correct `account`"
        )
