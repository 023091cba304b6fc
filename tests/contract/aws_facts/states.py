"""Facts of Step Functions: state machines, their executions, histories and events."""

from functools import partial
from typing import Any

from tests.contract.aws_facts.fact import documented, fact, refusal

ALL = ("engine", "fake_states", "soak")
API, GUIDE = "AWS Step Functions API reference: ", "AWS Step Functions Developer Guide: "
START, STOP, DESCRIBE = API + "StartExecution", API + "StopExecution", API + "DescribeExecution"
HISTORY, LANGUAGE = API + "GetExecutionHistory", "Amazon States Language: "
RECORDED = "localstack stepfunctions/v2/test_sfn_api.py::test_"
LISTED, REVERSED = RECORDED + "list_executions_pagination", RECORDED + "get_execution_history_reversed"
SAME, OTHER = RECORDED + "create_exact_duplicate_sm", RECORDED + "create_duplicate_sm_name"
FORM, SYNTAX = RECORDED + "create_delete_invalid_sm", RECORDED + "invalid_start_execution_input"
TAKEN, TWICE, INVALID = "ExecutionAlreadyExists", "StateMachineAlreadyExists", "InvalidDefinition"
PASS = {"Type": "Pass", "End": True}
NEXT = {"A": {"Type": "Pass", "Next": "B"}}
BRANCHES = {"Branches": [{"StartAt": "A", "States": {"A": PASS}}], "Catch": [{"ErrorEquals": ["States.ALL"], "Next": "B"}]}


def second_start(judge: Any, *, value: int = 1, ended: bool = False) -> str:
    """Ask how the second start of a name ends, while the first one with the value 1 runs or after its end."""
    steps = judge.steps() if ended else judge.waiting()
    first = steps.start("name", {"value": 1})
    if ended:
        steps.run(first)
    return refusal(steps.start, name="name", event={"value": value})


documented("sfn-name-again", "a running execution's start may be repeated", START, "accepted", ALL)(second_start)
documented("sfn-name-other-input", "a running execution's name is taken", START, TAKEN, ALL)(partial(second_start, value=2))
documented("sfn-name-ended", "an ended execution's name is taken", START, TAKEN, ALL)(partial(second_start, ended=True))


@documented("sfn-unknown", "an unknown execution is an error", DESCRIBE, "ExecutionDoesNotExist", ALL)
def unknown(judge: Any) -> str:
    steps = judge.waiting()
    return refusal(steps.client.describe_execution, executionArn=steps.start("name").replace(":name", ":other"))


@documented("sfn-newest-first", "executions are listed newest first", API + "ListExecutions", ["second", "first"], ALL)
def newest_first(judge: Any) -> list[str]:
    steps = judge.steps()
    for name in ("first", "second"):
        steps.run(steps.start(name))
    return [each["name"] for each in steps.client.list_executions(stateMachineArn=steps.arn, maxResults=10)["executions"]]


@fact("sfn-list-too-many", "ListExecutions returns at most 1,000", LISTED, "2024-07-01", "ValidationException", ALL)
def list_too_many(judge: Any) -> str:
    steps = judge.waiting()
    return refusal(steps.client.list_executions, stateMachineArn=steps.arn, maxResults=1001)


def stopped(steps: Any, size: int = 1) -> str:
    """Return the ARN of a new execution that has been stopped, with an input of some size."""
    execution: str = steps.start("name", {"x": "y" * size})
    steps.client.stop_execution(executionArn=execution, error="Newer", cause="for a test")
    return execution


def end(judge: Any, *, timeout_s: int = 100_000, stops: bool = False) -> list[str | None]:
    """Ask for the status, error and cause of an execution that is stopped or times out."""
    steps = judge.waiting(timeout_s)
    execution = stopped(steps) if stops else steps.start("name")
    steps.run(execution)
    found = steps.client.describe_execution(executionArn=execution)
    return [found["status"], found.get("error"), found.get("cause")]


GLOBAL = "localstack stepfunctions/v2/timeouts/test_timeouts.py::test_global_timeout"
STOPPED, TIMED_OUT = ["ABORTED", "Newer", "for a test"], ["TIMED_OUT", None, None]
documented("sfn-stop", "a stop has its error and cause", STOP, STOPPED, ALL)(partial(end, stops=True))
fact("sfn-timeout", "a timeout has no error and no cause", GLOBAL, "2024-03-10", TIMED_OUT, ALL)(partial(end, timeout_s=30))


def published(judge: Any, *, members: tuple[str, str], size: int = 1) -> list[Any]:
    """Ask what an event says about a stop."""
    steps = judge.waiting()
    detail = judge.heard(steps.arn, "ABORTED", lambda: stopped(steps, size))
    return [detail[member] for member in members]


SAYS, PAYLOADS, EXCLUDED = "an input above 248 KB is not in an event", GUIDE + "EventBridge payloads", [None, {"included": False}]
CAUSE, INPUT = partial(published, members=("error", "cause")), partial(published, members=("input", "inputDetails"), size=255_000)
documented("sfn-event-aborted", "a stop is published with its error and cause", STOP, ["Newer", "for a test"])(CAUSE)
documented("sfn-event-large-input", SAYS, PAYLOADS, EXCLUDED)(INPUT)


def history(judge: Any, **options: Any) -> list[list[Any]]:
    """Return the pages of the history of an execution of some states that has succeeded."""
    steps = judge.steps()
    asked = {"executionArn": steps.start("history", {"value": 1}), **options}
    steps.run(asked["executionArn"])
    pages = [steps.client.get_execution_history(**asked)]
    while token := pages[-1].get("nextToken"):
        pages.append(steps.client.get_execution_history(**asked, nextToken=token))
    return [page["events"] for page in pages]


def newest_events(judge: Any, *, most: int = 1000) -> bool:
    """Ask whether full pages have all events, the newest first."""
    pages = history(judge, reverseOrder=True, maxResults=most)
    ids = [event["id"] for page in pages for event in page]
    return len(pages[0]) == min(most, len(ids)) and ids == [*range(len(ids), 0, -1)] and len(ids) > 2


PAGES = "a page has maxResults events, and the next one continues"
fact("sfn-history-reverse", "the newest event comes first if asked so", REVERSED, "2024-01-28", True, ALL)(newest_events)
documented("sfn-history-pages", PAGES, HISTORY, True, ALL)(partial(newest_events, most=2))


@documented("sfn-history-hidden", "inputs and outputs are hidden if asked so", HISTORY, [True, False], ALL)
def hidden(judge: Any) -> list[bool]:
    texts = [str(history(judge, **options)) for options in ({}, {"includeExecutionData": False})]
    return ["'input'" in text or "'output'" in text for text in texts]


def creation(judge: Any, *, states: Any, again: bool = False) -> str:
    """Ask how the creation of a state machine ends; ``again`` with the name of one whose state is A."""
    name = judge.name()
    if again:
        judge.machine({"A": PASS}, name=name)
    return refusal(judge.machine, states=states, name=name)


CATCH = partial(creation, states={"P": {"Type": "Parallel", "End": True, **BRANCHES}})
AGAIN, CHANGED = partial(creation, states={"A": PASS}, again=True), partial(creation, states={"B": PASS}, again=True)
documented("sfn-definition-next", "Next names a state", LANGUAGE + "transitions", INVALID)(partial(creation, states=NEXT))
documented("sfn-definition-catch", "Catch names a state", LANGUAGE + "errors", INVALID)(CATCH)
fact("sfn-create-again", "creating a state machine again is once", SAME, "2023-06-22", "accepted")(AGAIN)
fact("sfn-create-twice", "a name has one definition", OTHER, "2023-06-22", TWICE)(CHANGED)
NO_STATES = {"name": "hyperpod-cdk-fact-none", "definition": '{"StartAt": "A"}'}
fact("sfn-definition", "a definition has States", FORM, "2023-08-04", INVALID)(
    lambda judge: refusal(judge.client("stepfunctions").create_state_machine, **NO_STATES, roleArn=judge.service_role)
)
fact("sfn-input-json", "an input is JSON", SYNTAX, "2023-06-22", "InvalidExecutionInput")(
    lambda judge: refusal((steps := judge.steps()).client.start_execution, stateMachineArn=steps.arn, input="{'a'}")
)


@documented("sfn-delete-running", "a deleted machine stays while its executions end", API + "DeleteStateMachine", "accepted")
def delete_running(judge: Any) -> str:
    steps = judge.waiting()
    steps.start("name")
    steps.client.delete_state_machine(stateMachineArn=steps.arn)
    return refusal(steps.client.describe_state_machine, stateMachineArn=steps.arn)


@documented("sfn-data-limit", "a state's output has at most 256 KiB", GUIDE + "quotas", "States.DataLimitExceeded")
def data_limit(judge: Any) -> Any:
    steps = judge.steps({"A": {**PASS, "Parameters": {"a.$": "$.event.x", "b.$": "$.event.x"}}})
    steps.run(execution := steps.start("name", {"x": "y" * 200_000}))
    return steps.client.describe_execution(executionArn=execution).get("error")
