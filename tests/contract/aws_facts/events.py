"""Facts of EventBridge's event patterns, and of the events that Step Functions publishes."""

import json
from typing import Any

from tests.contract.aws_facts.fact import fact, refusal

RECORDED = "localstack events/test_events_patterns.py::test_event_pattern with "
INVALID = "localstack events/test_events_patterns.py::test_invalid_json_event_pattern; AWS EventBridge User Guide: operators"
EVENT = {
    "id": "1",
    "source": "aws.states",
    "detail-type": "Step Functions Execution Status Change",
    "account": "123456789012",
    "region": "us-west-2",
    "time": "2026-11-28T15:00:00Z",
    "resources": [],
    "detail": {"status": "FAILED", "parts": [{"name": "first"}, {"id": 2}]},
}


def _matches(judge: Any, pattern: Any) -> str:
    text = json.dumps(pattern)
    return str(judge.client("events").test_event_pattern(EventPattern=text, Event=json.dumps(EVENT)).get("Result"))


@fact("events-pattern-any", "any value of a list matches", RECORDED + "arrays", "2024-07-15", "True False")
def any_value(judge: Any) -> str:
    return " ".join(_matches(judge, {"detail": {"status": status}}) for status in (["ABORTED", "FAILED"], ["ABORTED"]))


@fact("events-pattern-empty-list", "an empty list does not exist", RECORDED + "exists_list_empty_NEG", "2024-07-15", "False")
def empty_list(judge: Any) -> str:
    return _matches(judge, {"resources": [{"exists": True}]})


@fact("events-pattern-list", "an object of a list matches", RECORDED + "list_within_dict", "2024-07-15", "True False")
def list_of_objects(judge: Any) -> str:
    exists = [{"exists": True}]
    found = ({"id": exists}, {"id": exists, "name": exists})
    return " ".join(_matches(judge, {"detail": {"parts": parts}}) for parts in found)


@fact("events-pattern-invalid", "invalid patterns are refused", INVALID, "2024-07-15", ["InvalidEventPatternException"])
def invalid_patterns(judge: Any) -> list[str]:
    values: tuple[Any, ...] = ("FAILED", [], [{"exists": "yes"}], [{"sounds-like": "x"}], [{"cidr": "x"}], [{"numeric": ["<"]}])
    patterns = ["{'", *(json.dumps({"detail": {"status": value}}) for value in values)]
    test = judge.client("events").test_event_pattern
    return sorted({refusal(test, EventPattern=pattern, Event=json.dumps(EVENT)) for pattern in patterns})


@fact(
    "sfn-event-aborted",
    "a stop is published with its error and cause",
    "localstack stepfunctions/v2/base/test_base.py::test_event_bridge_events_base (the form); AWS Step Functions Developer Guide",
    "2024-02-07",
    "Newer for a test",
)
def aborted(judge: Any) -> str:
    steps = judge.waiting()

    def act() -> None:
        steps.client.stop_execution(executionArn=steps.start("name"), error="Newer", cause="for a test")

    heard = judge.heard({"stateMachineArn": [steps.arn], "status": ["ABORTED"]}, act)
    return f"{heard['error']} {heard['cause']}"


@fact(
    "sfn-event-large-input",
    "an input above 248 KiB is not in the event",
    "AWS Step Functions Developer Guide: EventBridge; API reference: CloudWatchEventsExecutionDataDetails",
    "documented",
    [None, {"included": False}],
)
def large_input(judge: Any) -> list[Any]:
    steps = judge.steps()
    heard = judge.heard(
        {"stateMachineArn": [steps.arn], "status": ["RUNNING"]}, lambda: steps.start("name", {"x": "y" * 255_000})
    )
    return [heard["input"], heard["inputDetails"]]
