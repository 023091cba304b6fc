"""Check the execution roles of groups."""

import re
from collections.abc import Iterator

from config.errors import Level, Problem
from config.model import ClusterConfig
from validation.entries import numbered
from validation.rules.locations import Arn
from validation.rules.overrides import text
from validation.rules.registry import rule


@rule("execution-role-account", "instance_groups[]", "account")
def execution_role_account(config: ClusterConfig) -> Iterator[Problem]:
    """A group's `overrides.ExecutionRole` must be in the cluster's account.

    IAM can pass a role only to services in the role's account: CreateCluster fails.
    """
    # https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_passrole.html
    for index, group in numbered(config.instance_groups):
        arn = text(group.overrides, "ExecutionRole")
        if config.account and Arn.of(arn).account not in ("", config.account):
            message = (
                f"is in account {Arn.of(arn).account}, but the cluster is in account {config.account}; use a role of the "
                "cluster's account"
            )
            yield Problem(("instance_groups", index, "overrides", "ExecutionRole"), arn, message)


# https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
_BUCKET = r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"


@rule("script-bucket-name", "instance_groups[]", level=Level.WARNING)
def script_bucket_name(config: ClusterConfig) -> Iterator[Problem]:
    """The bucket in a group's `LifeCycleConfig.SourceS3Uri` must have a valid bucket name.

    Placeholders are not replaced, and only buckets from before 2018 have upper-case letters: nodes would find no scripts.
    """
    for index, group in numbered(config.instance_groups):
        scripts = text(group.overrides, "LifeCycleConfig", "SourceS3Uri")
        bucket = scripts.removeprefix("s3://").partition("/")[0]
        if scripts.startswith("s3://") and not re.fullmatch(_BUCKET, bucket):
            path = ("instance_groups", index, "overrides", "LifeCycleConfig", "SourceS3Uri")
            message = (
                f"invalid bucket name {bucket or '(empty)'}; use a name from `aws s3 ls`, or suppress this warning if the "
                "bucket exists"
            )
            yield Problem(path, scripts, message)


@rule("missing-execution-role", "instance_groups[]", level=Level.WARNING)
def missing_execution_role(config: ClusterConfig) -> Iterator[Problem]:
    """A group with a custom `LifeCycleConfig.SourceS3Uri` requires an `ExecutionRole` with read access to it.

    The stack's node role can read only the uploaded scripts: each node of the group fails after it starts.
    """
    for index, group in numbered(config.instance_groups):
        scripts = text(group.overrides, "LifeCycleConfig", "SourceS3Uri")
        if scripts and not text(group.overrides, "ExecutionRole"):
            path = ("instance_groups", index, "overrides", "LifeCycleConfig", "SourceS3Uri")
            message = "the node role has no access to this prefix; add an `ExecutionRole` that has, or use `lifecycle.source`"
            yield Problem(path, scripts, message)
