"""Executions of state machines with a customer managed key: only callers who may use the key start and read them.

https://docs.aws.amazon.com/step-functions/latest/dg/encryption-at-rest.html
"""

from collections.abc import Callable
from typing import Any

from moto.stepfunctions.responses import StepFunctionResponse

from local_aws import iam
from local_aws.errors import AwsError

READ, WRITE = ("kms:Decrypt",), ("kms:Decrypt", "kms:GenerateDataKey")
_CALLS = {
    "describe_execution": READ,
    "describe_state_machine_for_execution": READ,
    "get_execution_history": READ,
    "start_execution": WRITE,
}


def key_of(machine: Any) -> str:
    """Return the ARN of the key of a state machine; empty for AWS's own key."""
    configuration = machine.encryptionConfiguration or {}
    return str(configuration.get("kmsKeyId") or "") if configuration.get("type") == "CUSTOMER_MANAGED_KMS_KEY" else ""


def _require(who: str, key: str, may: Callable[[str], bool], actions: tuple[str, ...]) -> None:
    missing = next((action for action in actions if key and not may(action)), "")
    if missing:
        message = f"{who} is not authorized to perform: {missing} on resource: {key} because no identity-based policy allows it"
        raise AwsError("KmsAccessDeniedException", message)


def _checked(call: Callable[[Any], Any], actions: tuple[str, ...]) -> Callable[[Any], Any]:
    def checked(self: Any) -> Any:
        arn = self._get_param("stateMachineArn") or self._get_param("executionArn").rpartition(":")[0]
        arn = arn.replace(":execution:", ":stateMachine:")
        machine = next((each for each in self.stepfunction_backend.state_machines if each.arn == arn), None)
        session, account = iam.session_of(iam.access_key(self.headers)), self.current_account
        if machine and session:
            may = lambda action: iam.role_allows(account, session.role_arn, action, key_of(machine))  # noqa: E731
            _require(session.arn, key_of(machine), may, actions)
        if machine and actions is WRITE:
            may = lambda action: iam.role_allows(account, machine.roleArn, action, key_of(machine))  # noqa: E731
            _require(machine.roleArn, key_of(machine), may, actions)
        return call(self)

    return checked


def patch() -> None:
    """Check callers, and the machine's role, before the calls that read or write encrypted data."""
    for name, actions in _CALLS.items():
        setattr(StepFunctionResponse, name, _checked(getattr(StepFunctionResponse, name), actions))
