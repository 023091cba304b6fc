"""State machines: creation and update require a valid definition, and a role that Step Functions can assume and log with."""

import json
from typing import Any

from moto.stepfunctions.parser.api import InvalidDefinition, InvalidExecutionInput
from moto.stepfunctions.parser.models import StepFunctionsParserBackend

from local_aws import iam
from local_aws.errors import AwsError
from local_aws.states import logs

Json = dict[str, Any]
_create = StepFunctionsParserBackend.create_state_machine
_update = StepFunctionsParserBackend.update_state_machine
_delete = StepFunctionsParserBackend.delete_state_machine
_validate_syntax = StepFunctionsParserBackend._validate_definition
_SETTINGS = {
    "loggingConfiguration": {"level": "OFF"},
    "tracingConfiguration": {"enabled": False},
    "encryptionConfiguration": {"type": "AWS_OWNED_KEY"},
}


def _create_checked(self: Any, name: str, definition: str, roleArn: str, **rest: Any) -> Any:  # noqa: N803  moto's name
    """Create the machine after a check of its role; twice is once."""
    arn = f"arn:aws:states:{self.region_name}:{self.account_id}:stateMachine:{name}"
    _require_fit(arn, roleArn, rest.get("loggingConfiguration"))
    found = next((machine for machine in self.state_machines if machine.arn == arn), None)
    if found and not _is_same(found, definition, rest):
        raise AwsError("StateMachineAlreadyExists", f"State Machine Already Exists: '{arn}'")
    return _create(self, name=name, definition=definition, roleArn=roleArn, **rest)


def _is_same(machine: Any, definition: str, rest: Json) -> bool:
    """Return whether a second creation is the first one's; the role and the tags do not count."""
    same = all(getattr(machine, name) == (rest.get(name) or default) for name, default in _SETTINGS.items())
    return bool(machine.definition == definition and machine.type == (rest.get("sm_type") or "STANDARD") and same)


def _update_checked(self: Any, arn: str, definition: Any = None, role_arn: Any = None, **rest: Any) -> Any:
    """Update the machine after a check of its role."""
    _require_fit(arn, role_arn or self.describe_state_machine(arn).roleArn, rest.get("logging_configuration"))
    return _update(self, arn, definition, role_arn, **rest)


def _validate(definition: str) -> None:
    """Refuse also a transition to no state, and a state without one: https://states-language.net/spec.html#transition."""
    _validate_syntax(definition)
    if wrong := _unconnected(json.loads(definition)):
        raise InvalidDefinition(f"Invalid State Machine Definition: 'MISSING_TRANSITION_TARGET: {', '.join(sorted(wrong))}'")


def _unconnected(machine: Json) -> set[str]:
    """Return the targets that are no states, and the states that are no targets, also within the states."""
    states, reached, waiting = machine["States"], set[str](), [machine["StartAt"]]
    while waiting:
        name = waiting.pop()
        state = {} if name in reached else states.get(name, {})
        reached.add(name)
        rules = (state, *state.get("Catch", ()), *state.get("Choices", ()))
        waiting += [rule[field] for rule in rules for field in ("Next", "Default") if field in rule]
    parts = [part for state in states.values() for part in (*state.get("Branches", ()), *_of_items(state))]
    return set(states.keys() ^ reached).union(*map(_unconnected, parts))


def _of_items(state: Json) -> list[Json]:
    return [state[field] for field in ("ItemProcessor", "Iterator") if field in state]


def _delete_with_executions(self: Any, arn: str) -> None:
    """Delete the machine and abort its executions, as AWS does at their next state."""
    running = [each for machine in self.state_machines if machine.arn == arn for each in machine.executions]
    _delete(self, arn)
    for execution in running:
        execution.stop(stop_date=None, error=None, cause=None)


def assuming(machine_arn: str) -> dict[str, str]:
    """Return the condition keys that Step Functions sends when it assumes the machine's role."""
    return {"aws:SourceAccount": machine_arn.split(":")[4], "aws:SourceArn": machine_arn}


def _require_fit(machine_arn: str, role_arn: str, logging: Json | None) -> None:
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
    for error in (InvalidDefinition, InvalidExecutionInput):
        error.TYPE = error.code  # which moto's responses lack
    StepFunctionsParserBackend._validate_definition = staticmethod(_validate)
