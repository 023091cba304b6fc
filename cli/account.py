"""The account of the credentials must be the one that the cluster file names."""

from pathlib import Path
from typing import Any

from cli.errors import OpsError
from cli.remedies import not_aws
from config.model import ClusterConfig


def check_account(config: ClusterConfig, file: Path, sts: Any) -> None:
    """Raise an OpsError if the credentials are for another account; without `account` in the file, ask nothing."""
    if config.account is None:
        return
    identity = sts.get_caller_identity()
    if "Account" not in identity:
        raise OpsError(f"cannot check the account: {not_aws()}")
    if identity["Account"] != config.account:
        raise OpsError(
            f"{file}: account: the file is for account {config.account}, but your credentials are for account "
            f"{identity['Account']}; set AWS_PROFILE to a profile of {config.account}, or correct `account`"
        )
