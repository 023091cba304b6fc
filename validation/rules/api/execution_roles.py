"""Check the execution roles of groups."""

import re
from collections.abc import Iterator

from cluster_request.effective_request import EffectiveRequest
from config.arns import Arn
from config.errors import Level, Problem
from config.instance_group import Role
from config.model import slurm_of
from validation.rules.registry import request_rule, slurm_request_rule


@request_rule("execution-role-account", "instance_groups[]", "account")
def execution_role_account(request: EffectiveRequest) -> Iterator[Problem]:
    """A group's `execution_role` must be in the cluster's account.

    IAM can pass a role only to services in the role's account: CreateCluster fails.
    """
    # https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_passrole.html
    account = request.config.account
    for role in (group.member("ExecutionRole") for group in request.groups):
        if account and (its := Arn.of(role.text).account) not in ("", account):
            yield role.problem(
                f"is in account {its}, but the cluster is in account {account}", "use a role of the cluster's account"
            )


# https://docs.aws.amazon.com/AmazonS3/latest/userguide/bucketnamingrules.html
_BUCKET = r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"


@request_rule("script-bucket-name", "instance_groups[]", level=Level.WARNING)
def script_bucket_name(request: EffectiveRequest) -> Iterator[Problem]:
    """The bucket in a group's `LifeCycleConfig.SourceS3Uri` must have a valid bucket name.

    Placeholders are not replaced, and only buckets from before 2018 have upper-case letters: nodes would find no scripts.
    """
    for scripts in (group.member("LifeCycleConfig", "SourceS3Uri") for group in request.groups):
        bucket = scripts.text.removeprefix("s3://").partition("/")[0]
        if scripts.is_overridden and scripts.text.startswith("s3://") and not re.fullmatch(_BUCKET, bucket):
            yield scripts.problem(
                f"invalid bucket name {bucket or '(empty)'}",
                "use a name from `aws s3 ls`, or suppress this warning if the bucket exists",
            )


@request_rule("missing-execution-role", "instance_groups[]", "node_role", level=Level.WARNING)
def missing_execution_role(request: EffectiveRequest) -> Iterator[Problem]:
    """A group with a custom `LifeCycleConfig.SourceS3Uri` requires an `execution_role` with read access to it.

    Without additions in `node_role`, the node role can read only the uploaded scripts: each node fails after it starts.
    """
    if request.config.node_role.adds_permissions:
        return
    for group in request.groups:
        scripts = group.member("LifeCycleConfig", "SourceS3Uri")
        if scripts.text and scripts.is_overridden and not group.sets("ExecutionRole"):
            yield scripts.problem(
                "the node role has no access to this prefix",
                "add an `execution_role` that has, allow it in `node_role`, or use `lifecycle.source`",
            )


@slurm_request_rule("accounting-secret-role", "instance_groups[]", "slurm.accounting", level=Level.WARNING)
def accounting_secret_role(request: EffectiveRequest) -> Iterator[Problem]:
    """A controller group with its own `execution_role` should have one that can read the accounting database's secret.

    The deployment allows only its own node role to read the secret: the controller's setup fails without it.
    """
    accounting = slurm_of(request.config).accounting
    for group in request.of_role(Role.CONTROLLER):
        if accounting.secret_arn and group.sets("ExecutionRole"):
            rights = "secretsmanager:GetSecretValue" + (" and kms:Decrypt" if accounting.secret_key_arn else "")
            yield group.member("ExecutionRole").problem(
                f"must allow {rights} for `slurm.accounting`", "add that to the role, then suppress this warning"
            )


@request_rule("directory-secret-role", "instance_groups[]", "directory", level=Level.WARNING)
def directory_secret_role(request: EffectiveRequest) -> Iterator[Problem]:
    """A group with its own `execution_role` should have one that can read the directory's secret.

    The deployment allows only its own node role to read the secret: login nodes fail without it, and others know no user.
    """
    directory = request.config.directory
    for group in request.groups:
        if directory and group.sets("ExecutionRole"):
            rights = "secretsmanager:GetSecretValue" + (" and kms:Decrypt" if directory.secret_key_arn else "")
            yield group.member("ExecutionRole").problem(
                f"must allow {rights} for `directory`", "add that to the role, then suppress this warning"
            )
