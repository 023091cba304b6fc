"""Facts of Step Functions: executions, their history, and the definitions of state machines."""

from typing import Any

from tests.contract.aws_facts.fact import fact, refusal

API = "AWS Step Functions API reference: "
ALL = ("engine", "fake_states", "soak")


@fact(
    "sfn-name-other-input",
    says="the name of an execution that runs cannot start another input",
    source=API + "StartExecution",
    date="documented",
    expected="ExecutionAlreadyExists",
    judges=ALL,
)
def other_input(judge: Any) -> str:
    steps = judge.steps({"Wait": {"Type": "Wait", "Seconds": 600, "End": True}})
    steps.start("name", {"value": 1})
    return refusal(lambda: steps.start("name", {"value": 2}))


def _history(judge: Any, **options: Any) -> Any:
    """Return the history of an execution of some states that has succeeded."""
    steps = judge.steps()
    execution = steps.finished(steps.start("history", {"value": 1}))
    return steps.client.get_execution_history(executionArn=execution, **options)


@fact(
    "sfn-history-reverse",
    says="GetExecutionHistory lists the newest event first if asked so",
    source="localstack test_sfn_api.py::test_get_execution_history_reversed",
    date="2024-01-28",
    expected="newest first",
    judges=ALL,
)
def reversed_history(judge: Any) -> str:
    ids = [event["id"] for event in _history(judge, reverseOrder=True)["events"]]
    return "newest first" if len(ids) > 1 and ids == sorted(ids, reverse=True) else "oldest first"


@fact(
    "sfn-history-pages",
    says="GetExecutionHistory returns at most maxResults events and a token for more",
    source=API + "GetExecutionHistory",
    date="documented",
    expected="pages of 2",
    judges=ALL,
)
def history_in_pages(judge: Any) -> str:
    steps = judge.steps()
    asked = {"executionArn": steps.finished(steps.start("pages", {})), "reverseOrder": True, "maxResults": 2}
    first = steps.client.get_execution_history(**asked)
    if len(first["events"]) != 2 or "nextToken" not in first:
        return "one page"
    second = steps.client.get_execution_history(**asked, nextToken=first["nextToken"])
    ids = [event["id"] for event in (*first["events"], *second["events"])]
    return "pages of 2" if ids == sorted(set(ids), reverse=True) else "pages out of order"


@fact(
    "sfn-history-hidden",
    says="GetExecutionHistory omits inputs and outputs if asked so, and has them by default",
    source=API + "GetExecutionHistory",
    date="documented",
    expected="hidden, and shown by default",
    judges=ALL,
)
def hidden_history(judge: Any) -> str:
    hidden = str(_history(judge, includeExecutionData=False)["events"])
    shown = str(_history(judge)["events"])
    return f"{'shown' if _has_data(hidden) else 'hidden'}, and {'shown' if _has_data(shown) else 'hidden'} by default"


def _has_data(history: str) -> bool:
    return "'input'" in history or "'output'" in history
