"""Rules about what belongs to another region or account than the cluster."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from config.errors import Level, Path, Problem
from config.model import ClusterConfig
from config.zones import partition_of
from validation.entries import numbered
from validation.rules.registry import rule
from validation.rules.verbatim import items, text


class Arn(NamedTuple):
    """Whose something is, by its ARN: `arn:aws:sns:us-west-2:123456789012:alarms`."""

    partition: str
    region: str
    account: str

    @classmethod
    def of(cls, arn: str) -> "Arn":
        """Partition, region and account of the ARN; all empty for what is none."""
        _, partition, _, region, account, *_ = [*arn.split(":", 5), *[""] * 5]
        return cls(partition, region, account)


def _elsewhere(arn: str, config: ClusterConfig) -> str | None:
    """The other region or account that the ARN names, and the cluster's, in words."""
    return _in_another_region(arn, config) or _of_another_account(arn, config)


def _in_another_region(arn: str, config: ClusterConfig) -> str | None:
    place = Arn.of(arn)
    if config.region and place.region not in ("", config.region):
        return f"is in {place.region}, and the cluster in {config.region}"
    return None


def _of_another_account(arn: str, config: ClusterConfig) -> str | None:
    place = Arn.of(arn)
    if config.account and place.account not in ("", config.account):
        return f"is account {place.account}'s, and the cluster is account {config.account}'s"
    return None


@rule("topic-of-the-region", "alarm_topic_arn", "region")
def topic_of_the_region(config: ClusterConfig) -> Iterator[Problem]:
    """The alarms' topic is in the cluster's region.

    CloudWatch tells no topic of another region, and CloudFormation finds out once network and storage are made.
    """
    # https://github.com/cds-snc/notification-terraform/pull/128 has PutMetricAlarm's refusal.
    arn = config.alarm_topic_arn
    if arn and config.region and Arn.of(arn).region != config.region:
        message = (
            f"is in {Arn.of(arn).region}, and alarms of {config.region} tell topics there alone; name one of {config.region}"
        )
        yield Problem(("alarm_topic_arn",), arn, message)


def _arns(config: ClusterConfig) -> Iterator[tuple[Path, str]]:
    """Every ARN of the file, with its path."""
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


@rule("partition-of-arns", "alarm_topic_arn", "slurm.accounting", "instance_groups[]", "region")
def partition_of_arns(config: ClusterConfig) -> Iterator[Problem]:
    """ARNs begin with the partition of their region: `arn:aws-us-gov:` in us-gov-west-1, `arn:aws-cn:` in cn-north-1.

    In another partition there is nothing of that region: who uses it is refused, once network and storage are made.
    """
    # https://docs.aws.amazon.com/IAM/latest/UserGuide/reference-arns.html
    for path, arn in _arns(config):
        found = Arn.of(arn)
        region = found.region or config.region
        wanted = partition_of(region) if region else None
        if found.partition and wanted and found.partition != wanted:
            message = f"is of the partition {found.partition}, and {region} is in {wanted}; begin it with arn:{wanted}:"
            yield Problem(path, arn, message)


@rule("secret-of-the-place", "slurm.accounting.secret_arn", "region", "account", level=Level.WARNING)
def secret_of_the_place(config: ClusterConfig) -> Iterator[Problem]:
    """The accounting database's secret is in the cluster's region and account.

    Every start of slurmdbd would depend on another region, or on what another account lets the nodes read.
    """
    arn = config.slurm.accounting.secret_arn
    if arn and (where := _elsewhere(arn, config)):
        yield Problem(("slurm", "accounting", "secret_arn"), arn, f"{where}; name the secret there, or silence this")


@rule("database-of-the-region", "slurm.accounting.host", "region", level=Level.WARNING)
def database_of_the_region(config: ClusterConfig) -> Iterator[Problem]:
    """The accounting database's host, where RDS names it, is in the cluster's region.

    slurmdbd asks it for each job: over another region, where it gets there at all, every command of Slurm waits.
    """
    # https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_ConnectToInstance.html: NAME.ID.REGION.rds.amazonaws.com
    host = config.slurm.accounting.host or ""
    found = re.search(r"\.([a-z0-9-]+)\.rds\.amazonaws\.com", host)
    if found and config.region and found[1] != config.region:
        message = f"is in {found[1]}, and the cluster in {config.region}; name a database there, or silence this"
        yield Problem(("slurm", "accounting", "host"), host, message)


@rule("key-of-the-secret", "slurm.accounting")
def key_of_the_secret(config: ClusterConfig) -> Iterator[Problem]:
    """The secret's key is in the secret's region.

    Secrets Manager uses keys of its own region alone: it is not the key of this secret, and the nodes may not use that one.
    """
    # https://docs.aws.amazon.com/kms/latest/developerguide/concepts.html: a key is used in its own region.
    secret, key = config.slurm.accounting.secret_arn, config.slurm.accounting.secret_key_arn
    if secret and key and Arn.of(secret).region != Arn.of(key).region:
        message = f"is in {Arn.of(key).region}, and the secret in {Arn.of(secret).region}; name the key that the secret has there"
        yield Problem(("slurm", "accounting", "secret_key_arn"), key, message)


@rule("openzfs-of-the-region", "storage.openzfs", "region", level=Level.WARNING)
def openzfs_of_the_region(config: ClusterConfig) -> Iterator[Problem]:
    """The file system for homes is in the cluster's region.

    Every command of every user would wait for another region, where it gets there at all.
    """
    if config.storage.openzfs and config.region:
        name = config.storage.openzfs.dns_name
        region = name.split(".")[2]
        if region != config.region:
            message = f"is in {region}, and the cluster in {config.region}; name a file system there, or silence this"
            yield Problem(("storage", "openzfs", "dns_name"), name, message)


@rule("training-plan-of-the-region", "instance_groups[]", "region")
def training_plan_of_the_region(config: ClusterConfig) -> Iterator[Problem]:
    """A group's training plan is in the cluster's region.

    Its capacity is nowhere else: the group would get none, and the cluster not start.
    """
    # https://docs.aws.amazon.com/sagemaker/latest/dg/training-plan-utilization-for-hyperpod.html
    for index, group in numbered(config.instance_groups):
        arn = text(group.overrides, "TrainingPlanArn")
        if where := _in_another_region(arn, config):
            path = ("instance_groups", index, "overrides", "TrainingPlanArn")
            yield Problem(path, arn, f"{where}; name a plan there, or move the cluster to the plan's")


@rule("training-plan-of-the-account", "instance_groups[]", "region", "account", level=Level.WARNING)
def training_plan_of_the_account(config: ClusterConfig) -> Iterator[Problem]:
    """A group's training plan is the cluster's account's.

    AWS describes no way to use another account's plan: the group would get nothing of it, and the cluster not start.
    """
    for index, group in numbered(config.instance_groups):
        arn = text(group.overrides, "TrainingPlanArn")
        if not _in_another_region(arn, config) and (whose := _of_another_account(arn, config)):
            path = ("instance_groups", index, "overrides", "TrainingPlanArn")
            yield Problem(path, arn, f"{whose}; name a plan of that one, or silence this")


@rule("volume-keys-of-the-region", "instance_groups[]", "region")
def volume_keys_of_the_region(config: ClusterConfig) -> Iterator[Problem]:
    """The keys of volumes are in the cluster's region.

    EBS uses keys of its own region alone: no node of the group would start.
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
                message = f"is in {Arn.of(key).region}, and the cluster in {config.region}; name a key there"
                yield Problem(path, key, message)
