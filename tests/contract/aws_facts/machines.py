"""Facts of Step Functions' state machines: their definitions, names and ends."""

import json
from typing import Any

from tests.contract.aws_facts.fact import Question, fact, refusal

DOCUMENTED = "documented"
RECORDED = "localstack stepfunctions/v2/test_sfn_api.py::"
PASS = {"Type": "Pass", "End": True}
INVALID = RECORDED + "test_create_delete_invalid_sm"


@fact("sfn-definition", "a definition has States", INVALID, "2023-08-04", "InvalidDefinition")
def definition_without_states(judge: Any) -> str:
    return refusal(judge.create_machine, definition=json.dumps({"StartAt": "A"}))


@fact(
    "sfn-definition-next",
    "Next names a state",
    INVALID + " (the form); MISSING_TRANSITION_TARGET",
    DOCUMENTED,
    "InvalidDefinition",
)
def next_to_nowhere(judge: Any) -> str:
    return refusal(judge.machine, states={"A": {"Type": "Pass", "Next": "B"}})


@fact("sfn-definition-catch", "Catch names a state", "Amazon States Language: Errors", DOCUMENTED, "InvalidDefinition")
def catch_to_nowhere(judge: Any) -> str:
    inner = {"StartAt": "A", "States": {"A": PASS}}
    catch = [{"ErrorEquals": ["States.ALL"], "Next": "B"}]
    return refusal(judge.machine, states={"P": {"Type": "Parallel", "Branches": [inner], "Catch": catch, "End": True}})


def second_creation(states: dict[str, Any]) -> Question:
    """Return the question how a creation ends whose name a state machine of one state has."""

    def asked(judge: Any) -> str:
        name = judge.name()
        judge.machine({"A": PASS}, name=name)
        return refusal(judge.machine, states=states, name=name)

    return asked


fact(
    "sfn-create-again",
    "creating a state machine again is once",
    RECORDED + "test_create_exact_duplicate_sm",
    "2023-06-22",
    "accepted",
)(second_creation({"A": PASS}))
fact(
    "sfn-create-twice",
    "a name has one definition",
    RECORDED + "test_create_duplicate_sm_name",
    "2023-06-22",
    "StateMachineAlreadyExists",
)(second_creation({"B": PASS}))


@fact(
    "sfn-input-json", "an input is JSON", RECORDED + "test_invalid_start_execution_input", "2023-06-22", "InvalidExecutionInput"
)
def input_json(judge: Any) -> str:
    return refusal(judge.client("stepfunctions").start_execution, stateMachineArn=judge.machine({"A": PASS}), input="{'a'}")


@fact(
    "sfn-delete-running",
    "a deleted machine's name is taken while its executions end",
    "AWS Step Functions API reference: DeleteStateMachine",
    DOCUMENTED,
    "DELETING",
)
def delete_running(judge: Any) -> str:
    steps = judge.waiting()
    steps.start("name")
    steps.client.delete_state_machine(stateMachineArn=steps.arn)
    try:
        return str(steps.client.describe_state_machine(stateMachineArn=steps.arn)["status"])
    except steps.client.exceptions.StateMachineDoesNotExist:
        return "gone"


@fact(
    "sfn-data-limit",
    "a state's output has at most 256 KiB",
    "AWS Step Functions Developer Guide: quotas",
    DOCUMENTED,
    "States.DataLimitExceeded",
)
def data_limit(judge: Any) -> str:
    machines = judge.client("stepfunctions")
    arn = judge.machine({"A": {**PASS, "Parameters": {"a.$": "$.x", "b.$": "$.x"}}})
    started = machines.start_execution(stateMachineArn=arn, input=json.dumps({"x": "y" * 200_000}))
    ended = judge.until(lambda: _ended(machines.describe_execution(executionArn=started["executionArn"])))
    return str(ended.get("error"))


def _ended(execution: Any) -> Any:
    return None if execution["status"] == "RUNNING" else execution
