"""Add the permissions of `node_role` to the nodes' role."""

from aws_cdk import aws_iam as iam
from constructs import Construct

from config.node_role import NodeRoleConfig, StatementEffect
from constructs.hyperpod.nag import acknowledge

REASON = "`node_role` of the cluster file"


def managed_policies(scope: Construct, config: NodeRoleConfig) -> list[iam.IManagedPolicy]:
    """Return the managed policies to attach to the role."""
    return [_managed(scope, f"NodePolicy{index}", arn) for index, arn in enumerate(config.managed_policy_arns)]


def permissions_boundary(scope: Construct, config: NodeRoleConfig) -> iam.IManagedPolicy | None:
    """Return the permissions boundary of the role, if any."""
    arn = config.permissions_boundary_arn
    return _managed(scope, "NodePermissionsBoundary", arn) if arn else None


def add_to_role(role: iam.Role, config: NodeRoleConfig) -> None:
    """Define a policy with the file's statements, and acknowledge findings in the file's additions."""
    for arn in config.managed_policy_arns:
        if ":iam::aws:" in arn:
            acknowledge(role, f"IAM4[Policy::{arn}]", f"{REASON} attaches this policy of AWS")
    if not config.statements:
        return
    statements = [
        iam.PolicyStatement.from_json(each.model_dump(mode="json", exclude_defaults=True)) for each in config.statements
    ]
    policy = iam.Policy(role, "Additions", statements=statements)
    policy.attach_to_role(role)
    allowed = [each for each in config.statements if each.Effect is StatementEffect.ALLOW]
    for kind, values in (
        ("Action", [action for each in allowed for action in each.Action]),
        ("Resource", [resource for each in allowed for resource in each.Resource]),
    ):
        for value in dict.fromkeys(values):
            if "*" in value:
                acknowledge(policy, f"IAM5[{kind}::{value}]", f"{REASON} contains this wildcard")


def _managed(scope: Construct, id: str, arn: str) -> iam.IManagedPolicy:
    return iam.ManagedPolicy.from_managed_policy_arn(scope, id, arn)
