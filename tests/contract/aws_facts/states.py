"""Facts of Step Functions: state machines, their executions, histories and events."""

import re
from typing import Any

from tests.contract.aws_facts.engine import PASSES, Engine, Steps
from tests.contract.aws_facts.fact import ALL, Fact
from tests.simulator.machinery.account import refusal

API, GUIDE = "AWS Step Functions API reference: ", "AWS Step Functions Developer Guide: "
START, STOP, DESCRIBE = API + "StartExecution", API + "StopExecution", API + "DescribeExecution"
HISTORY, LANGUAGE, ONCE = API + "GetExecutionHistory", "Amazon States Language: ", "2023-06-22"
RECORDED = "localstack stepfunctions/v2/test_sfn_api.py::test_"
LISTED, REVERSED = (RECORDED + "list_executions_pagination", "2024-07-01"), RECORDED + "get_execution_history_reversed"
SAME, OTHER = (RECORDED + "create_exact_duplicate_sm", ONCE), (RECORDED + "create_duplicate_sm_name", ONCE)
FORM, SYNTAX = (RECORDED + "create_delete_invalid_sm", "2023-08-04"), (RECORDED + "invalid_start_execution_input", ONCE)
GLOBAL = ("localstack stepfunctions/v2/timeouts/test_timeouts.py::test_global_timeout", "2024-03-10")
TAKEN, TWICE, INVALID = "ExecutionAlreadyExists", "StateMachineAlreadyExists", "InvalidDefinition"
STOPPED, TIMED_OUT = ["ABORTED", "Newer", "for a test"], ["TIMED_OUT", None, None]
PASS, NEXT, ONLY_A = PASSES["Respond"], {"A": {"Type": "Pass", "Next": "B"}}, {"A": PASSES["Respond"]}
BRANCHES = {"Branches": [{"StartAt": "A", "States": {"A": PASS}}], "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "B"}]}
CATCH = {"P": {"Type": "Parallel", "End": True, **BRANCHES}}


def second_start(judge: Any, *, value: int = 1, ended: bool = False) -> str:
    """Ask how the second start of a name ends, while the first one with the value 1 runs or after its end."""
    steps = judge.steps() if ended else judge.waiting()
    first = steps.start("name", {"value": 1})
    if ended:
        steps.ended(first)
    return refusal(steps.start, name="name", event={"value": value})


Fact("sfn-name-again", "a running execution's start may be repeated", START, "accepted", ALL)(second_start)
Fact("sfn-name-other-input", "a running execution's name is taken", START, TAKEN, ALL)(second_start, value=2)
Fact("sfn-name-ended", "an ended execution's name is taken", START, TAKEN, ALL)(second_start, ended=True)
Fact("sfn-unknown", "an unknown execution is an error", DESCRIBE, "ExecutionDoesNotExist", ALL)(
    lambda judge: refusal((steps := judge.waiting()).client.describe_execution, executionArn=steps.start("name") + "-other")
)
Fact("sfn-list-too-many", "ListExecutions returns at most 1,000", LISTED, "ValidationException", ALL)(
    lambda judge: refusal((steps := judge.waiting()).client.list_executions, stateMachineArn=steps.arn, maxResults=1001)
)


@Fact("sfn-newest-first", "executions are listed newest first", API + "ListExecutions", ["second", "first"], ALL)
def newest_first(judge: Any) -> list[str]:
    steps = judge.steps()
    for name in ("first", "second"):
        steps.ended(steps.start(name))
    return [each["name"] for each in steps.client.list_executions(stateMachineArn=steps.arn, maxResults=10)["executions"]]


def stopped(steps: Steps, size: int = 1) -> str:
    """Return the ARN of a new execution that has been stopped, with an input of some size."""
    execution = steps.start("name", {"x": "y" * size})
    steps.client.stop_execution(executionArn=execution, error="Newer", cause="for a test")
    return execution


def end(judge: Any, *, timeout_s: int = 100_000, stops: bool = False) -> list[str | None]:
    """Ask for the status, error and cause of an execution that is stopped or times out."""
    steps = judge.waiting(timeout_s)
    found = steps.ended(stopped(steps) if stops else steps.start("name"))
    return [found["status"], found.get("error"), found.get("cause")]


def published(judge: Engine, *, members: tuple[str, str], size: int = 1) -> list[Any]:
    """Ask what an event says about a stop."""
    steps = judge.waiting()
    detail = judge.heard(steps.arn, "ABORTED", lambda: stopped(steps, size))
    return [detail[member] for member in members]


SAYS, PAYLOADS, EXCLUDED = "an input above 248 KB is not in an event", GUIDE + "EventBridge payloads", [None, {"included": False}]
Fact("sfn-stop", "a stop has its error and cause", STOP, STOPPED, ALL)(end, stops=True)
Fact("sfn-timeout", "a timeout has no error and no cause", GLOBAL, TIMED_OUT, ALL)(end, timeout_s=30)
Fact("sfn-event-aborted", "a stop is published with its error and cause", STOP, STOPPED[1:])(
    published, members=("error", "cause")
)
Fact("sfn-event-large-input", SAYS, PAYLOADS, EXCLUDED)(published, members=("input", "inputDetails"), size=255_000)


def history(judge: Any, **options: Any) -> list[list[Any]]:
    """Return the pages of the history of an execution of some states that has succeeded."""
    steps = judge.steps()
    steps.ended(execution := steps.start("history", {"value": 1}))
    pages = [steps.client.get_execution_history(executionArn=execution, **options)]
    while token := pages[-1].get("nextToken"):
        pages.append(steps.client.get_execution_history(executionArn=execution, **options, nextToken=token))
    return [page["events"] for page in pages]


def newest_events(judge: Any, *, most: int = 1000) -> bool:
    """Ask whether full pages have all events, the newest first."""
    pages = history(judge, reverseOrder=True, maxResults=most)
    ids = [event["id"] for page in pages for event in page]
    return len(pages[0]) == min(most, len(ids)) and ids == [*range(len(ids), 0, -1)] and len(ids) > 2


Fact("sfn-history-reverse", "the newest event comes first if asked so", (REVERSED, "2024-01-28"), True, ALL)(newest_events)
Fact("sfn-history-pages", "a page has maxResults events, and the next one continues", HISTORY, True, ALL)(newest_events, most=2)
Fact("sfn-history-hidden", "inputs and outputs are hidden if asked so", HISTORY, [True, False], ALL)(
    lambda judge: [bool(re.search("'(in|out)put'", str(history(judge, includeExecutionData=shown)))) for shown in (True, False)]
)


def creation(judge: Engine, *definitions: Any) -> str:
    """Ask how the creation of a state machine ends, after those of others with its name."""
    name, role = judge.name(), judge.service_role
    return [refusal(judge.machine, name=name, states=states, roleArn=role) for states in definitions][-1]


NO_STATES = {"name": "hyperpod-cdk-fact-none", "definition": '{"StartAt": "A"}'}
Fact("sfn-definition-next", "Next names a state", LANGUAGE + "transitions", INVALID)(creation, NEXT)
Fact("sfn-definition-catch", "Catch names a state", LANGUAGE + "errors", INVALID)(creation, CATCH)
Fact("sfn-create-again", "creating a state machine again is once", SAME, "accepted")(creation, ONLY_A, ONLY_A)
Fact("sfn-create-twice", "a name has one definition", OTHER, TWICE)(creation, ONLY_A, {"B": PASS})
Fact("sfn-definition", "a definition has States", FORM, INVALID)(
    lambda judge: refusal(judge.stepfunctions.create_state_machine, **NO_STATES, roleArn=judge.service_role)
)
Fact("sfn-input-json", "an input is JSON", SYNTAX, "InvalidExecutionInput")(
    lambda judge: refusal(judge.stepfunctions.start_execution, stateMachineArn=judge.steps().arn, input="{'a'}")
)


@Fact("sfn-delete-running", "a deleted machine stays while its executions end", API + "DeleteStateMachine", "accepted")
def delete_running(judge: Engine) -> str:
    steps = judge.waiting()
    steps.start("name")
    steps.client.delete_state_machine(stateMachineArn=steps.arn)
    return refusal(steps.client.describe_state_machine, stateMachineArn=steps.arn)


TWICE_X, LARGE = {"A": {**PASS, "Parameters": {"a.$": "$.event.x", "b.$": "$.event.x"}}}, {"x": "y" * 200_000}
Fact("sfn-data-limit", "a state's output has at most 256 KiB", GUIDE + "quotas", "States.DataLimitExceeded")(
    lambda judge: (steps := judge.steps(TWICE_X)).ended(steps.start("name", LARGE)).get("error")
)
