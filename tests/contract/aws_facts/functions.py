"""Facts of Lambda's limits and lost events, and of EventBridge's patterns."""

import json
from functools import partial
from typing import Any

from botocore.config import Config

from tests.contract.aws_facts.fact import fact, refusal

BOTH = ("engine", "soak")
GUIDE = "AWS Lambda Developer Guide: "
LOST = "localstack lambda_/test_lambda_destinations.py::"
TESTS = ("function_state", "lambda_concurrency_block", "reserved_concurrency")
STATE, BLOCKED, RESERVED = (f"localstack lambda_/test_lambda.py::test_{name}" for name in TESTS)
QUOTAS = GUIDE + "quotas; the code: ASFHyP3/hyp3 issue 2241, aws/aws-pdk 771, with the limit of then"
RETRIES, AGE = LOST + "test_lambda_destination_default_retries", LOST + "test_maxeventage"


@fact("lambda-payload-size", "an event has at most 1 MB", QUOTAS, "2024-05-02", "RequestEntityTooLargeException")
def payload_size(judge: Any) -> str:
    event = json.dumps("x" * 1_048_577)
    return refusal(judge.client("lambda").invoke, FunctionName=judge.function(), InvocationType="Event", Payload=event)


@fact("lambda-reserved-zero", "without concurrency calls are throttled", BLOCKED, "2025-11-24", "TooManyRequestsException")
def reserved_zero(judge: Any) -> str:
    functions, name = judge.client("lambda", config=Config(retries={"total_max_attempts": 1})), judge.function()
    functions.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=0)
    return refusal(functions.invoke, FunctionName=name)


def lost(judge: Any, **options: int) -> list[Any]:
    """Ask why and after how many attempts an event is lost that a function fails to process."""
    context = judge.lost_event(**options)
    return [context["condition"], context["approximateInvokeCount"]]


fact("lambda-state", "a new function is Pending", STATE, "2025-11-24", "Pending")(lambda judge: judge.create_function()["State"])
ZERO, NO_EVENTS = ["ZeroReservedConcurrency", 0], "without concurrency events are lost"
fact("lambda-reserved-zero-event", NO_EVENTS, RESERVED, "2025-11-25", ZERO)(partial(lost, concurrency=0))
fact("lambda-retries", "a failed event is tried three times", RETRIES, "2025-11-24", ["RetriesExhausted", 3], BOTH)(lost)
fact("lambda-age", "an event that is too old is lost", AGE, "2025-11-27", ["EventAgeExceeded", 1], BOTH)(partial(lost, age_s=60))

MATCH, MATCHED = "localstack events/test_events_patterns.py::test_event_pattern ", "2025-10-15"
EXISTS = [{"exists": True}]
EVENT = """{"id": "1", "source": "aws.states", "detail-type": "Change", "account": "123456789012", "region": "us-west-2",
"time": "2026-11-28T15:00:00Z", "resources": [], "detail": {"status": "FAILED", "parts": [{"name": "first"}, {"id": 2}]}}"""


def pattern(name: str, says: str, recording: str, expected: list[bool], *patterns: Any) -> None:
    """Register a fact about which patterns match the event."""

    def matches(judge: Any) -> list[bool]:
        test = judge.client("events").test_event_pattern
        return [test(EventPattern=json.dumps(pattern), Event=EVENT).get("Result") for pattern in patterns]

    fact(f"events-pattern-{name}", says, MATCH + recording, MATCHED, expected)(matches)


STATUSES = [{"detail": {"status": [*others, "ABORTED"]}} for others in (["FAILED"], [])]
PARTS = [{"detail": {"parts": dict.fromkeys(fields, EXISTS)}} for fields in (["id"], ["id", "name"])]
pattern("any", "any value of a list matches", "arrays", [True, False], *STATUSES)
pattern("empty-list", "an empty list is absent", "exists_list_empty_NEG", [False], {"resources": EXISTS})
TWO = "list_within_dict; aws/event-ruler's README (two fields)"
pattern("list", "one object of a list has all fields", TWO, [True, False], *PARTS)
REFUSED = MATCH + "*_EXC; test_invalid_json_event_pattern; EventBridge User Guide: operators"


@fact("events-pattern-invalid", "invalid patterns are refused", REFUSED, MATCHED, ["InvalidEventPatternException"])
def invalid_patterns(judge: Any) -> list[str]:
    values: list[Any] = ["FAILED", [], [{"exists": "yes"}], [{"EXISTS": True}], [{"cidr": "x"}], [{"numeric": [">", 0, "<"]}]]
    patterns = ["{'", *(json.dumps({"detail": {"status": value}}) for value in values)]
    events, name = judge.client("events"), judge.name()
    judge.later(events.delete_rule, Name=name)
    tested = {refusal(events.test_event_pattern, EventPattern=each, Event=EVENT) for each in patterns}
    return sorted(tested | {refusal(events.put_rule, Name=name, EventPattern=each) for each in patterns})
