"""State machines: creation and update require a valid definition, and a role that Step Functions can assume and log with."""

from typing import Any

from moto.stepfunctions.parser.models import StepFunctionsParserBackend

from local_aws import iam
from local_aws.errors import AwsError
from local_aws.states import definitions, logs

_create = StepFunctionsParserBackend.create_state_machine
_update = StepFunctionsParserBackend.update_state_machine
_delete = StepFunctionsParserBackend.delete_state_machine
_SETTINGS = {
    "loggingConfiguration": {"level": "OFF"},
    "tracingConfiguration": {"enabled": False},
    "encryptionConfiguration": {"type": "AWS_OWNED_KEY"},
}


def _create_checked(self: Any, name: str, definition: str, roleArn: str, **rest: Any) -> Any:  # noqa: N803  moto's name
    """Create the machine after a check of its definition and role; twice is once."""
    definitions.check(definition)
    arn = f"arn:aws:states:{self.region_name}:{self.account_id}:stateMachine:{name}"
    _require_fit(arn, roleArn, rest.get("loggingConfiguration"))
    found = next((machine for machine in self.state_machines if machine.arn == arn), None)
    if found and not _is_same(found, definition, rest):
        raise AwsError("StateMachineAlreadyExists", f"State Machine Already Exists: '{arn}'")
    return _create(self, name=name, definition=definition, roleArn=roleArn, **rest)


def _is_same(machine: Any, definition: str, rest: dict[str, Any]) -> bool:
    """Return whether a second creation is the first one's; the role and the tags do not count."""
    same = all(getattr(machine, name) == (rest.get(name) or default) for name, default in _SETTINGS.items())
    return bool(machine.definition == definition and machine.type == (rest.get("sm_type") or "STANDARD") and same)


def _update_checked(self: Any, arn: str, definition: Any = None, role_arn: Any = None, **rest: Any) -> Any:
    """Update the machine after a check of its definition and role."""
    if definition is not None:
        definitions.check(definition)
    _require_fit(arn, role_arn or self.describe_state_machine(arn).roleArn, rest.get("logging_configuration"))
    return _update(self, arn, definition, role_arn, **rest)


def _delete_with_executions(self: Any, arn: str) -> None:
    """Delete the machine and abort its executions, as AWS does at their next state."""
    running = [each for machine in self.state_machines if machine.arn == arn for each in machine.executions]
    _delete(self, arn)
    for execution in running:
        execution.stop(stop_date=None, error=None, cause=None)


def assuming(machine_arn: str) -> dict[str, str]:
    """Return the condition keys that Step Functions sends when it assumes the machine's role."""
    return {"aws:SourceAccount": machine_arn.split(":")[4], "aws:SourceArn": machine_arn}


def _require_fit(machine_arn: str, role_arn: str, logging: dict[str, Any] | None) -> None:
    account = machine_arn.split(":")[4]
    if not iam.role_trusts(account, role_arn, "states.amazonaws.com", assuming(machine_arn)):
        message = (
            f"Neither the global service principal states.amazonaws.com, nor the regional one is authorized to assume {role_arn}"
        )
        raise AwsError("AccessDeniedException", message)
    logs.require_delivery(account, role_arn, logging)


def patch() -> None:
    """Run these checks before moto's methods."""
    StepFunctionsParserBackend.create_state_machine = _create_checked
    StepFunctionsParserBackend.update_state_machine = _update_checked
    StepFunctionsParserBackend.delete_state_machine = _delete_with_executions
