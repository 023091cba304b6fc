"""Check additions to the node role."""

import json
from collections.abc import Iterator

from config.arns import Arn
from config.entries import repeated
from config.errors import ABSENT, Level, Path, Problem
from config.model import ClusterConfig, slurm_of
from config.node_role import StatementEffect
from config.slurm import MetadataAccess
from config.storage import NodeAccess
from validation.rules.registry import rule, slurm_rule

# IAM accepts 10,240 characters in all inline policies of a role. The deployment's own policies need the rest, with room for
# clusters of many groups and subnets.
MAX_STATEMENTS_CHARACTERS = 4000
ADMINISTRATOR = ":iam::aws:policy/AdministratorAccess"


def _policies(config: ClusterConfig) -> Iterator[tuple[Path, str]]:
    """Yield the ARN of each managed policy with its path."""
    for index, arn in enumerate(config.node_role.managed_policy_arns):
        yield ("node_role", "managed_policy_arns", index), arn
    if config.node_role.permissions_boundary_arn:
        yield ("node_role", "permissions_boundary_arn"), config.node_role.permissions_boundary_arn


@rule("node-role-policy-account", "node_role", "account")
def node_role_policy_account(config: ClusterConfig) -> Iterator[Problem]:
    """The managed policies in `node_role` must belong to AWS or to the cluster's account.

    IAM attaches no policy of another account: the deployment fails and rolls back.
    """
    # https://docs.aws.amazon.com/IAM/latest/UserGuide/access_policies_managed-vs-inline.html
    for path, arn in _policies(config):
        owner = Arn.of(arn).account
        if config.account and owner not in ("aws", config.account):
            message = f"is in account {owner}, but the cluster is in account {config.account}"
            yield Problem(path, arn, message, "use a policy of this account")


@rule("duplicate-node-role-policies", "node_role")
def duplicate_node_role_policies(config: ClusterConfig) -> Iterator[Problem]:
    """Each managed policy and each `Sid` in `node_role` must be unique.

    IAM rejects duplicates: the deployment fails and rolls back.
    """
    for index, arn, _ in repeated(enumerate(config.node_role.managed_policy_arns)):
        yield Problem(("node_role", "managed_policy_arns", index), arn, "duplicate", "remove one")
    for index, sid, _ in repeated((index, each.Sid) for index, each in enumerate(config.node_role.statements) if each.Sid):
        yield Problem(("node_role", "statements", index, "Sid"), sid, "duplicate", "use another Sid, or merge the statements")


@rule("node-role-policy-size", "node_role")
def node_role_policy_size(config: ClusterConfig) -> Iterator[Problem]:
    """The statements in `node_role` must have at most 4000 characters as JSON.

    IAM limits the inline policies of a role to 10,240 characters, which include the deployment's own: the deployment fails.
    """
    # https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
    statements = [each.model_dump(mode="json", exclude_defaults=True) for each in config.node_role.statements]
    size = len(json.dumps(statements, separators=(",", ":")))
    if size > MAX_STATEMENTS_CHARACTERS:
        message = f"IAM accepts at most {MAX_STATEMENTS_CHARACTERS} here"
        yield Problem(("node_role", "statements"), f"{size} characters", message, "move statements to a managed policy")


@rule("unrestricted-node-role", "node_role", level=Level.WARNING)
def unrestricted_node_role(config: ClusterConfig) -> Iterator[Problem]:
    """`node_role` should not allow all actions.

    Root on any node, with `metadata_access: all` or Amazon EKS every user, would be an administrator of the account.
    """
    is_restricted = config.slurm is not None and config.slurm.metadata_access is MetadataAccess.ADMINISTRATORS
    message = f"allows all actions to {'root on any node' if is_restricted else 'every user of the cluster'}"
    fix = "list the actions that nodes need, or suppress this warning"
    for index, statement in enumerate(config.node_role.statements):
        if statement.Effect is StatementEffect.ALLOW:
            for place, action in enumerate(statement.Action):
                if action == "*":
                    yield Problem(("node_role", "statements", index, "Action", place), action, message, fix)
    for place, arn in enumerate(config.node_role.managed_policy_arns):
        if arn.endswith(ADMINISTRATOR):
            yield Problem(("node_role", "managed_policy_arns", place), arn, message, fix)


@slurm_rule(
    "metadata-access", "slurm.metadata_access", "node_role", "storage.data_bucket", "lifecycle.source", "instance_groups[]"
)
def metadata_access(config: ClusterConfig) -> Iterator[Problem]:
    """`slurm.metadata_access` must be in the file if `node_role`, `node_access` or `execution_role` gives nodes permissions.

    By default, only root and administrators can use a node's role: jobs that rely on its permissions would fail.
    """
    allows = any(each.Effect is StatementEffect.ALLOW for each in config.node_role.statements)
    is_used = _is_used(config)
    given = {
        "node_role": is_used and (allows or bool(config.node_role.managed_policy_arns)),
        "storage.data_bucket.node_access": is_used and config.storage.data_bucket.node_access is not NodeAccess.NONE,
        # Other scripts do not restrict it.
        "instance_groups[].execution_role": any(
            (each.execution_role or each.overrides.get("ExecutionRole")) and "LifeCycleConfig" not in each.overrides
            for each in config.instance_groups
        ),
    }
    fields = " and ".join(f"`{field}`" for field, gives in given.items() if gives)
    is_written = "metadata_access" in slurm_of(config).model_fields_set or config.lifecycle.source is not None
    if fields and not is_written:
        message = f"required, as {fields} gives permissions to nodes"
        fix = "add `slurm: {metadata_access: administrators}` to keep them from users and jobs, or `all`"
        yield Problem(("slurm", "metadata_access"), ABSENT, message, fix)


@rule("unused-node-role", "node_role", "instance_groups[]", level=Level.WARNING)
def unused_node_role(config: ClusterConfig) -> Iterator[Problem]:
    """`node_role` requires a group without an `execution_role`.

    No node would use the role, so its permissions would have no effect.
    """
    if config.node_role.model_fields_set and not _is_used(config):
        given = ", ".join(sorted(config.node_role.model_fields_set))
        yield Problem(("node_role",), given, "has no effect, as each group sets `execution_role`", "remove it")


def _is_used(config: ClusterConfig) -> bool:
    return any(each.execution_role is None and "ExecutionRole" not in each.overrides for each in config.instance_groups)
