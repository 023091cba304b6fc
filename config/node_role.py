"""Define the node_role section."""

from enum import StrEnum
from typing import Annotated, Any

from pydantic import StringConstraints

from config.section import Change, Section, setting

PolicyArn = Annotated[str, StringConstraints(pattern=r"^arn:aws[a-z-]*:iam::(aws|[0-9]{12}):policy/[A-Za-z0-9+=,.@_/-]+$")]
ActionName = Annotated[str, StringConstraints(pattern=r"^(\*|[A-Za-z0-9-]+:[A-Za-z0-9*?]+)$")]
ResourceArn = Annotated[str, StringConstraints(pattern=r"^(\*|arn:[^:]+:[^:]+:[^:]*:[^:]*:.+)$")]


class StatementEffect(StrEnum):
    """The effect of a statement."""

    ALLOW = "Allow"
    DENY = "Deny"


class PolicyStatement(Section):
    """A statement of an IAM policy, with the names of IAM's JSON; `Action` and `Resource` are lists."""

    Sid: str | None = setting("id of the statement", Change.IN_PLACE, None, pattern="^[A-Za-z0-9]+$")
    Effect: StatementEffect = setting("whether the statement allows or denies the actions", Change.IN_PLACE)
    Action: tuple[ActionName, ...] = setting("actions, e.g. `s3:GetObject`", Change.IN_PLACE, min_length=1)
    Resource: tuple[ResourceArn, ...] = setting("ARNs of the resources, or `*`", Change.IN_PLACE, min_length=1)
    Condition: dict[str, Any] = setting("conditions: operator, condition key and value, as in IAM's JSON", Change.IN_PLACE, {})


class NodeRoleConfig(Section):
    """Additions to the role that the deployment creates for the nodes; a group with `execution_role` does not use it."""

    managed_policy_arns: tuple[PolicyArn, ...] = setting(
        "managed policies to attach to the role",
        Change.IN_PLACE,
        (),
        max_length=20,
        api="iam:AttachRolePolicy PolicyArn",
    )
    statements: tuple[PolicyStatement, ...] = setting(
        "statements of an inline policy of the role", Change.IN_PLACE, (), max_length=50, api="iam:PutRolePolicy PolicyDocument"
    )
    permissions_boundary_arn: PolicyArn | None = setting(
        "managed policy that limits the role; it must allow the actions of the role's own policies, or nodes fail",
        Change.IN_PLACE,
        None,
        api="iam:CreateRole PermissionsBoundary",
    )

    @property
    def adds_permissions(self) -> bool:
        """Return whether the section attaches or defines a policy."""
        return bool(self.managed_policy_arns or self.statements)
