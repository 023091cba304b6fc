"""Compare the region and account of an ARN with the cluster's."""

from typing import NamedTuple

from config.model import ClusterConfig


class Arn(NamedTuple):
    """The location in an ARN like `arn:aws:sns:us-west-2:123456789012:alarms`."""

    partition: str
    region: str
    account: str

    @classmethod
    def of(cls, arn: str) -> "Arn":
        """Return partition, region and account of the ARN; all are empty for an invalid one."""
        _, partition, _, region, account, *_ = [*arn.split(":", 5), *[""] * 5]
        return cls(partition, region, account)


def elsewhere(arn: str, config: ClusterConfig) -> str | None:
    """Describe how region or account of the ARN differ from the cluster's."""
    return in_another_region(arn, config) or of_another_account(arn, config)


def in_another_region(arn: str, config: ClusterConfig) -> str | None:
    """Describe the region of the ARN if it is not the cluster's."""
    place = Arn.of(arn)
    if config.region and place.region not in ("", config.region):
        return f"is in {place.region}, but the cluster is in {config.region}"
    return None


def of_another_account(arn: str, config: ClusterConfig) -> str | None:
    """Describe the account of the ARN if it is not the cluster's."""
    place = Arn.of(arn)
    if config.account and place.account not in ("", config.account):
        return f"is in account {place.account}, but the cluster is in account {config.account}"
    return None
