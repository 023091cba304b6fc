"""Rules about the roles that groups' nodes act in."""

import re
from collections.abc import Iterator

from config.errors import Level, Problem
from config.model import ClusterConfig
from validation.entries import numbered
from validation.rules.places import Arn
from validation.rules.registry import rule
from validation.rules.verbatim import text


@rule("roles-of-the-account", "instance_groups[]", "account")
def roles_of_the_account(config: ClusterConfig) -> Iterator[Problem]:
    """A group's `overrides.ExecutionRole` is a role of the cluster's account.

    A role is passed to services of its own account alone: CreateCluster is refused.
    """
    # https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_passrole.html
    for index, group in numbered(config.instance_groups):
        arn = text(group.overrides, "ExecutionRole")
        if config.account and Arn.of(arn).account not in ("", config.account):
            message = (
                f"is account {Arn.of(arn).account}'s, and the cluster is account {config.account}'s; name a role of that one"
            )
            yield Problem(("instance_groups", index, "overrides", "ExecutionRole"), arn, message)


# https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
_BUCKET = r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"


@rule("bucket-of-other-scripts", "instance_groups[]", level=Level.WARNING)
def bucket_of_other_scripts(config: ClusterConfig) -> Iterator[Problem]:
    """The bucket in a group's `LifeCycleConfig.SourceS3Uri` has a name that buckets have.

    Nothing replaces a placeholder, and capitals are in names of before 2018 alone: the nodes would find no scripts.
    """
    for index, group in numbered(config.instance_groups):
        scripts = text(group.overrides, "LifeCycleConfig", "SourceS3Uri")
        bucket = scripts.removeprefix("s3://").partition("/")[0]
        if scripts.startswith("s3://") and not re.fullmatch(_BUCKET, bucket):
            path = ("instance_groups", index, "overrides", "LifeCycleConfig", "SourceS3Uri")
            message = (
                f"{bucket or 'nothing'} is no bucket's name; write one as `aws s3 ls` shows it, or silence this if it is there"
            )
            yield Problem(path, scripts, message)


@rule("role-for-other-scripts", "instance_groups[]", level=Level.WARNING)
def role_for_other_scripts(config: ClusterConfig) -> Iterator[Problem]:
    """A group with a `LifeCycleConfig.SourceS3Uri` of its own has an `ExecutionRole` that may read there.

    The role that this project makes reads this project's scripts alone: each node of the group fails, once it has been paid for.
    """
    for index, group in numbered(config.instance_groups):
        scripts = text(group.overrides, "LifeCycleConfig", "SourceS3Uri")
        if scripts and not text(group.overrides, "ExecutionRole"):
            path = ("instance_groups", index, "overrides", "LifeCycleConfig", "SourceS3Uri")
            message = "the nodes' role may not read there; add an `ExecutionRole` that may, or use `lifecycle.source`"
            yield Problem(path, scripts, message)
