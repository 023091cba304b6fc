"""Check that referenced resources are in the cluster's region and account."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from config.errors import Level, Path, Problem
from config.model import ClusterConfig
from config.zones import partition_of
from validation.entries import numbered
from validation.rules.overrides import items, text
from validation.rules.registry import rule


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


def _elsewhere(arn: str, config: ClusterConfig) -> str | None:
    """Describe how region or account of the ARN differ from the cluster's."""
    return _in_another_region(arn, config) or _of_another_account(arn, config)


def _in_another_region(arn: str, config: ClusterConfig) -> str | None:
    place = Arn.of(arn)
    if config.region and place.region not in ("", config.region):
        return f"is in {place.region}, but the cluster is in {config.region}"
    return None


def _of_another_account(arn: str, config: ClusterConfig) -> str | None:
    place = Arn.of(arn)
    if config.account and place.account not in ("", config.account):
        return f"is in account {place.account}, but the cluster is in account {config.account}"
    return None


@rule("topic-region", "alarm_topic_arn", "region")
def topic_region(config: ClusterConfig) -> Iterator[Problem]:
    """The alarm topic must be in the cluster's region.

    CloudWatch alarms can only notify topics in their own region; CloudFormation fails after network and storage are created.
    """
    # https://github.com/cds-snc/notification-terraform/pull/128 has PutMetricAlarm's error.
    arn = config.alarm_topic_arn
    if arn and config.region and Arn.of(arn).region != config.region:
        message = (
            f"is in {Arn.of(arn).region}, but alarms can only notify topics in their own region; use a topic in {config.region}"
        )
        yield Problem(("alarm_topic_arn",), arn, message)


def _arns(config: ClusterConfig) -> Iterator[tuple[Path, str]]:
    """Yield every ARN in the file with its path."""
    accounting, groups = config.slurm.accounting, numbered(config.instance_groups)
    yield ("alarm_topic_arn",), config.alarm_topic_arn or ""
    yield ("slurm", "accounting", "secret_arn"), accounting.secret_arn or ""
    yield ("slurm", "accounting", "secret_key_arn"), accounting.secret_key_arn or ""
    for index, group in groups:
        path: Path = ("instance_groups", index, "overrides")
        yield from (((*path, name), text(group.overrides, name)) for name in ("ExecutionRole", "TrainingPlanArn"))
        for at, each in items(group.overrides, "InstanceStorageConfigs"):
            key = ("EbsVolumeConfig", "VolumeKmsKeyId")
            yield (*path, "InstanceStorageConfigs", at, *key), text(each, *key)


@rule("arn-partition", "alarm_topic_arn", "slurm.accounting", "instance_groups[]", "region")
def arn_partition(config: ClusterConfig) -> Iterator[Problem]:
    """ARNs must have the partition of their region: `arn:aws-us-gov:` in us-gov-west-1, `arn:aws-cn:` in cn-north-1.

    A resource of another partition does not exist there: the request fails after network and storage are created.
    """
    # https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html
    for path, arn in _arns(config):
        found = Arn.of(arn)
        region = found.region or config.region
        expected = partition_of(region) if region else None
        if found.partition and expected and found.partition != expected:
            message = f"wrong partition {found.partition} for {region}; start it with arn:{expected}:"
            yield Problem(path, arn, message)


@rule("secret-location", "slurm.accounting.secret_arn", "region", "account", level=Level.WARNING)
def secret_location(config: ClusterConfig) -> Iterator[Problem]:
    """The accounting database's secret should be in the cluster's region and account.

    Otherwise every start of slurmdbd depends on another region, or on the permissions of another account.
    """
    arn = config.slurm.accounting.secret_arn
    if arn and (where := _elsewhere(arn, config)):
        yield Problem(
            ("slurm", "accounting", "secret_arn"),
            arn,
            f"{where}; use a secret in the cluster's region and account, or suppress this warning",
        )


@rule("database-region", "slurm.accounting.host", "region", level=Level.WARNING)
def database_region(config: ClusterConfig) -> Iterator[Problem]:
    """The accounting database should be in the cluster's region, as far as its RDS host name shows.

    slurmdbd queries it for each job: across regions, every Slurm command is slow or fails.
    """
    # https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_ConnectToInstance.html: NAME.ID.REGION.rds.amazonaws.com
    host = config.slurm.accounting.host or ""
    found = re.search(r"\.([a-z0-9-]+)\.rds\.amazonaws\.com", host)
    if found and config.region and found[1] != config.region:
        message = (
            f"is in {found[1]}, but the cluster is in {config.region}; use a database in {config.region}, or suppress this "
            "warning"
        )
        yield Problem(("slurm", "accounting", "host"), host, message)


@rule("secret-key-region", "slurm.accounting")
def secret_key_region(config: ClusterConfig) -> Iterator[Problem]:
    """The secret's KMS key must be in the secret's region.

    Secrets Manager uses only keys in its own region, so another key cannot decrypt the secret.
    """
    # https://docs.aws.amazon.com/kms/latest/developerguide/concepts.html: a key is used in its own region.
    secret, key = config.slurm.accounting.secret_arn, config.slurm.accounting.secret_key_arn
    if secret and key and Arn.of(secret).region != Arn.of(key).region:
        message = f"is in {Arn.of(key).region}, but the secret is in {Arn.of(secret).region}; use the secret's key"
        yield Problem(("slurm", "accounting", "secret_key_arn"), key, message)


@rule("openzfs-region", "storage.openzfs", "region", level=Level.WARNING)
def openzfs_region(config: ClusterConfig) -> Iterator[Problem]:
    """The OpenZFS file system for home directories should be in the cluster's region.

    Across regions, every access to a home directory is slow or fails.
    """
    if config.storage.openzfs and config.region:
        name = config.storage.openzfs.dns_name
        region = name.split(".")[2]
        if region != config.region:
            message = (
                f"is in {region}, but the cluster is in {config.region}; use a file system in {config.region}, or suppress this "
                "warning"
            )
            yield Problem(("storage", "openzfs", "dns_name"), name, message)


@rule("training-plan-region", "instance_groups[]", "region")
def training_plan_region(config: ClusterConfig) -> Iterator[Problem]:
    """A group's training plan must be in the cluster's region.

    Its capacity exists only there: the group gets none, and the cluster does not start.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/training-plan-utilization-for-hyperpod.html
    for index, group in numbered(config.instance_groups):
        arn = text(group.overrides, "TrainingPlanArn")
        if where := _in_another_region(arn, config):
            path = ("instance_groups", index, "overrides", "TrainingPlanArn")
            yield Problem(path, arn, f"{where}; use a plan in {config.region}, or move the cluster to the plan's region")


@rule("training-plan-account", "instance_groups[]", "region", "account", level=Level.WARNING)
def training_plan_account(config: ClusterConfig) -> Iterator[Problem]:
    """A group's training plan should belong to the cluster's account.

    AWS documents no way to use another account's plan: the group gets no capacity, and the cluster does not start.
    """
    for index, group in numbered(config.instance_groups):
        arn = text(group.overrides, "TrainingPlanArn")
        if not _in_another_region(arn, config) and (whose := _of_another_account(arn, config)):
            path = ("instance_groups", index, "overrides", "TrainingPlanArn")
            yield Problem(path, arn, f"{whose}; use a plan of the cluster's account, or suppress this warning")


@rule("volume-key-region", "instance_groups[]", "region")
def volume_key_region(config: ClusterConfig) -> Iterator[Problem]:
    """The KMS keys of volumes must be in the cluster's region.

    EBS uses only keys in its own region: no node of the group would start.
    """
    # https://docs.aws.amazon.com/ebs/latest/userguide/ebs-encryption-requirements.html
    for index, group in numbered(config.instance_groups):
        for at, each in items(group.overrides, "InstanceStorageConfigs"):
            key = text(each, "EbsVolumeConfig", "VolumeKmsKeyId")
            if config.region and Arn.of(key).region not in ("", config.region):
                path: Path = (
                    "instance_groups",
                    index,
                    "overrides",
                    "InstanceStorageConfigs",
                    at,
                    "EbsVolumeConfig",
                    "VolumeKmsKeyId",
                )
                message = f"is in {Arn.of(key).region}, but the cluster is in {config.region}; use a key in {config.region}"
                yield Problem(path, key, message)
