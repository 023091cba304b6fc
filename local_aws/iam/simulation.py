"""IAM's SimulatePrincipalPolicy for roles, which moto does not have: by the decisions to which sessions are held here.

Users are not simulated, and neither conditions that the caller gives (ContextEntries) nor policies that come with the call.
"""

from typing import Any

from moto.core.responses import ActionResult
from moto.iam.exceptions import NotFoundException
from moto.iam.responses import IamResponse

from local_aws.iam.decisions import Decision, imagined
from local_aws.iam.documents import find_role


def _simulate(self: Any) -> ActionResult:
    """Every action on every resource, or on none in particular."""
    source = self._get_param("PolicySourceArn")
    account = self.current_account
    if find_role(account, source) is None:
        raise NotFoundException(f"The role with arn {source} cannot be found.")
    resources = self._get_param("ResourceArns") or ["*"]
    wanted = [(action, resource) for action in self._get_param("ActionNames") for resource in resources]
    return ActionResult(
        {"EvaluationResults": [_told(imagined(account, source, *each, {})) for each in wanted], "IsTruncated": False}
    )


def _told(decision: Decision) -> dict[str, Any]:
    refused = "explicitDeny" if "explicit deny" in decision.why else "implicitDeny"
    return {
        "EvalActionName": decision.action,
        "EvalResourceName": decision.resource,
        "EvalDecision": "allowed" if decision.allowed else refused,
        "MatchedStatements": [],
        "MissingContextValues": [],
    }


def install() -> None:
    """Give moto's IAM the operation."""
    IamResponse.simulate_principal_policy = _simulate
