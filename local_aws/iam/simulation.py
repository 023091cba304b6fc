"""IAM's SimulatePrincipalPolicy for roles, which moto lacks: it returns the same decisions as for sessions.

Users, conditions of the caller (ContextEntries) and policies in the call are not supported.
EvalResourceName is the resource, as recorded on AWS for one; without resources, or for several, it is `*`.
"""

from typing import Any

from moto.core.responses import ActionResult
from moto.iam.exceptions import NotFoundException
from moto.iam.responses import IamResponse

from local_aws.iam.decisions import Decision, simulate
from local_aws.iam.documents import find_role

_HARDEST_FIRST = _DENIED, _NOT_ALLOWED, _ALLOWED = "explicitDeny", "implicitDeny", "allowed"
_NOTHING_MORE: dict[str, list[str]] = {"MatchedStatements": [], "MissingContextValues": []}


def _simulate(self: Any) -> ActionResult:
    """Simulate every action on every resource, or on `*`."""
    source = self._get_param("PolicySourceArn")
    account = self.current_account
    if find_role(account, source) is None:
        raise NotFoundException(f"The role with arn {source} cannot be found.")
    resources = self._get_param("ResourceArns") or []
    results = [_result(account, source, action, resources) for action in self._get_param("ActionNames")]
    return ActionResult({"EvaluationResults": results, "IsTruncated": False})


def _result(account: str, source: str, action: str, resources: list[str]) -> dict[str, Any]:
    """Return one action's result: the strictest of its resources' decisions, and each of them if resources were given."""
    decisions = [(each, _decision_name(simulate(account, source, action, each, {}))) for each in resources or ["*"]]
    specific = [{"EvalResourceName": each, "EvalResourceDecision": decision, **_NOTHING_MORE} for each, decision in decisions]
    return {
        "EvalActionName": action,
        "EvalResourceName": resources[0] if len(resources) == 1 else "*",
        "EvalDecision": min((decision for _, decision in decisions), key=_HARDEST_FIRST.index),
        "ResourceSpecificResults": specific if resources else [],
        **_NOTHING_MORE,
    }


def _decision_name(decision: Decision) -> str:
    if decision.allowed:
        return _ALLOWED
    return _DENIED if "explicit deny" in decision.why else _NOT_ALLOWED


def install() -> None:
    """Add the operation to moto's IAM."""
    IamResponse.simulate_principal_policy = _simulate
