"""List the actions of roles, and remove them one at a time."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from local_aws.testing import ask

Statement = dict[str, Any]


@dataclass(frozen=True)
class Right:
    """An action of a statement."""

    holder: str
    role: str
    policy: str
    sid: str
    action: str

    def __str__(self) -> str:
        """Return the row of the table."""
        return f"{self.holder:9} {self.sid:36} {self.action}"


def actions(statement: Statement) -> list[str]:
    """Return the actions of a statement."""
    named = statement["Action"]
    return [named] if isinstance(named, str) else list(named)


def rights_of(iam: Any, holder: str, role: str) -> list[Right]:
    """Return the allowed actions in a role's inline policies; it must have no attached ones."""
    assert iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"] == []
    return [
        Right(holder, role, policy, statement["Sid"], action)
        for policy in iam.list_role_policies(RoleName=role)["PolicyNames"]
        for statement in _document(iam, role, policy)["Statement"]
        if statement["Effect"] == "Allow"
        for action in actions(statement)
    ]


@contextmanager
def without(iam: Any, right: Right) -> Iterator[None]:
    """Remove the action from the statement, and add it again afterwards."""
    whole = _document(iam, right.role, right.policy)
    cut = deepcopy(whole)
    [statement] = [statement for statement in cut["Statement"] if statement["Sid"] == right.sid]
    statement["Action"] = [action for action in actions(statement) if action != right.action]
    cut["Statement"] = [statement for statement in cut["Statement"] if statement["Action"]]
    try:
        if cut["Statement"]:
            _put(iam, right, cut)
        else:
            iam.delete_role_policy(RoleName=right.role, PolicyName=right.policy)
        yield
    finally:
        _put(iam, right, whole)


def used() -> set[tuple[str, str]]:
    """Return roles and their allowed actions since the record was cleared."""
    return {(str(each["role"]).rsplit("/", 1)[-1], str(each["action"])) for each in ask("iam") if each["allowed"]}


def denials(right: Right) -> list[str]:
    """Return the resources for which the role was denied the action since the record was cleared."""
    return [
        decision["resource"]
        for decision in ask("iam")
        if not decision["allowed"] and decision["action"] == right.action and decision["role"].endswith(f"/{right.role}")
    ]


def _document(iam: Any, role: str, policy: str) -> Any:
    return iam.get_role_policy(RoleName=role, PolicyName=policy)["PolicyDocument"]


def _put(iam: Any, right: Right, document: Any) -> None:
    iam.put_role_policy(RoleName=right.role, PolicyName=right.policy, PolicyDocument=json.dumps(document))
