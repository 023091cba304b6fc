"""Facts of Step Functions: executions and their history."""

from typing import Any

from tests.contract.aws_facts.fact import fact, refusal

ALL = ("engine", "fake_states", "soak")
DOCUMENTED = "documented"
API = "AWS Step Functions API reference: "
RECORDED = "localstack stepfunctions/v2/test_sfn_api.py::"


@fact(
    "sfn-name-again",
    "starting a running execution's name and input again is once",
    API + "StartExecution",
    DOCUMENTED,
    "once",
    ALL,
)
def same_input(judge: Any) -> str:
    steps = judge.waiting()
    return "once" if steps.start("name", {"value": 1}) == steps.start("name", {"value": 1}) else "twice"


@fact(
    "sfn-name-other-input",
    "a running execution's name is taken",
    API + "StartExecution",
    DOCUMENTED,
    "ExecutionAlreadyExists",
    ALL,
)
def other_input(judge: Any) -> str:
    steps = judge.waiting()
    steps.start("name", {"value": 1})
    return refusal(lambda: steps.start("name", {"value": 2}))


@fact("sfn-name-ended", "an ended execution's name is taken", API + "StartExecution", DOCUMENTED, "ExecutionAlreadyExists", ALL)
def ended_name(judge: Any) -> str:
    steps = judge.steps()
    steps.finished(steps.start("name"))
    return refusal(lambda: steps.start("name"))


@fact("sfn-unknown", "an unknown execution is an error", API + "DescribeExecution", DOCUMENTED, "ExecutionDoesNotExist", ALL)
def unknown(judge: Any) -> str:
    steps = judge.waiting()
    other = steps.start("name").replace(":name", ":other")
    return refusal(steps.client.describe_execution, executionArn=other)


@fact("sfn-newest-first", "executions are listed newest first", API + "ListExecutions", DOCUMENTED, "second, first", ALL)
def newest_first(judge: Any) -> str:
    steps = judge.steps()
    for name in ("first", "second"):
        steps.finished(steps.start(name))
    listed = steps.client.list_executions(stateMachineArn=steps.arn, maxResults=10)
    return ", ".join(execution["name"] for execution in listed["executions"])


@fact(
    "sfn-list-too-many",
    "ListExecutions returns at most 1,000",
    RECORDED + "test_list_executions_pagination",
    "2024-07-01",
    "ValidationException",
    ALL,
)
def list_too_many(judge: Any) -> str:
    steps = judge.waiting()
    return refusal(steps.client.list_executions, stateMachineArn=steps.arn, maxResults=1001)


@fact(
    "sfn-stop", "a stop has its error and cause", RECORDED + "test_stop_execution", "2024-05-06", "ABORTED Newer for a test", ALL
)
def stop(judge: Any) -> str:
    steps = judge.waiting()
    execution = steps.start("name")
    steps.client.stop_execution(executionArn=execution, error="Newer", cause="for a test")
    steps.finished(execution)
    return _end(steps, execution)


@fact(
    "sfn-timeout", "an execution that times out has no error", API + "DescribeExecution", DOCUMENTED, "TIMED_OUT None None", ALL
)
def timed_out(judge: Any) -> str:
    steps = judge.waiting(timeout_s=30)
    return _end(steps, steps.finished(steps.start("name")))


def _end(steps: Any, execution: str) -> str:
    found = steps.client.describe_execution(executionArn=execution)
    return f"{found['status']} {found.get('error')} {found.get('cause')}"


def _history(judge: Any, **options: Any) -> Any:
    """Return the history of an execution of some states that has succeeded."""
    steps = judge.steps()
    execution = steps.finished(steps.start("history", {"value": 1}))
    return steps.client.get_execution_history(executionArn=execution, **options)


@fact(
    "sfn-history-reverse",
    "the newest event comes first if asked so",
    RECORDED + "test_get_execution_history_reversed",
    "2024-01-28",
    "newest first",
    ALL,
)
def reversed_history(judge: Any) -> str:
    ids = [event["id"] for event in _history(judge, reverseOrder=True)["events"]]
    return "newest first" if len(ids) > 1 and ids == sorted(ids, reverse=True) else "oldest first"


@fact("sfn-history-pages", "a page has maxResults events", API + "GetExecutionHistory", DOCUMENTED, "pages of 2", ALL)
def history_in_pages(judge: Any) -> str:
    steps = judge.steps()
    asked = {"executionArn": steps.finished(steps.start("pages")), "reverseOrder": True, "maxResults": 2}
    first = steps.client.get_execution_history(**asked)
    if len(first["events"]) != 2 or "nextToken" not in first:
        return "one page"
    second = steps.client.get_execution_history(**asked, nextToken=first["nextToken"])
    ids = [event["id"] for event in (*first["events"], *second["events"])]
    return "pages of 2" if ids == sorted(set(ids), reverse=True) else "pages out of order"


@fact(
    "sfn-history-hidden",
    "inputs and outputs are hidden if asked so",
    API + "GetExecutionHistory",
    DOCUMENTED,
    "hidden, shown by default",
    ALL,
)
def hidden_history(judge: Any) -> str:
    hidden = str(_history(judge, includeExecutionData=False)["events"])
    shown = str(_history(judge)["events"])
    return f"{'shown' if _has_data(hidden) else 'hidden'}, {'shown' if _has_data(shown) else 'hidden'} by default"


def _has_data(history: str) -> bool:
    return "'input'" in history or "'output'" in history
