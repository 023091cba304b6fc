"""Facts of Lambda's limits and lost events, and of EventBridge's patterns."""

import json
from typing import Any

from botocore.config import Config

from tests.contract.aws_facts.fact import Question, documented, fact, refusal

BOTH = ("engine", "soak")
GUIDE = "AWS Lambda Developer Guide: "
BLOCKED = "localstack lambda_/test_lambda.py::test_lambda_concurrency_block"
LOST = "localstack lambda_/test_lambda_destinations.py::"
RETRIES, AGE = LOST + "test_lambda_destination_default_retries", LOST + "test_maxeventage"
ONCE = Config(retries={"total_max_attempts": 1})


@documented("lambda-payload-size", "an event has at most 1 MB", GUIDE + "quotas", "RequestEntityTooLargeException")
def payload_size(judge: Any) -> str:
    event = json.dumps("x" * 1_048_577)
    return refusal(judge.client("lambda").invoke, FunctionName=judge.function(), InvocationType="Event", Payload=event)


@fact("lambda-reserved-zero", "without concurrency calls are throttled", BLOCKED, "2025-11-24", "TooManyRequestsException")
def reserved_zero(judge: Any) -> str:
    functions, name = judge.client("lambda", config=ONCE), judge.function()
    functions.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=0)
    return refusal(functions.invoke, FunctionName=name)


def lost(**options: int) -> Question:
    """Return the question why and after how many attempts an event is lost that a function fails to process."""
    return lambda judge: [judge.lost_event(**options)[name] for name in ("condition", "approximateInvokeCount")]


RESERVED, ZERO = GUIDE + "configuring reserved concurrency", ["ZeroReservedConcurrency", 0]
documented("lambda-reserved-zero-event", "without concurrency events are lost", RESERVED, ZERO)(lost(concurrency=0))
fact("lambda-retries", "a failed event is tried three times", RETRIES, "2025-11-24", ["RetriesExhausted", 3], BOTH)(lost())
fact("lambda-age", "an event that is too old is lost", AGE, "2025-11-27", ["EventAgeExceeded", 1], BOTH)(lost(age_s=60))

MATCH, MATCHED = "localstack events/test_events_patterns.py::test_event_pattern ", "2025-10-15"
EXISTS = [{"exists": True}]
EVENT = """{"id": "1", "source": "aws.states", "detail-type": "Change", "account": "123456789012", "region": "us-west-2",
"time": "2026-11-28T15:00:00Z", "resources": [], "detail": {"status": "FAILED", "parts": [{"name": "first"}, {"id": 2}]}}"""


def matches(*patterns: Any) -> Question:
    """Return the question which patterns match the event."""

    def asked(judge: Any) -> list[bool]:
        test = judge.client("events").test_event_pattern
        return [test(EventPattern=json.dumps(pattern), Event=EVENT).get("Result") for pattern in patterns]

    return asked


def detail(**values: Any) -> Any:
    return {"detail": values}


ANY = detail(status=["ABORTED", "FAILED"]), detail(status=["ABORTED"])
fact("events-pattern-any", "any value of a list matches", MATCH + "arrays", MATCHED, [True, False])(matches(*ANY))
NONE = {"resources": EXISTS}
fact("events-pattern-empty-list", "an empty list is absent", MATCH + "exists_list_empty_NEG", MATCHED, [False])(matches(NONE))
PARTS = detail(parts={"id": EXISTS}), detail(parts={"id": EXISTS, "name": EXISTS})
WITHIN = MATCH + "list_within_dict; aws/event-ruler's README (two fields)"
fact("events-pattern-list", "one object of a list has all fields", WITHIN, MATCHED, [True, False])(matches(*PARTS))


REFUSED = MATCH + "*_EXC; test_invalid_json_event_pattern; EventBridge User Guide: operators"


@fact("events-pattern-invalid", "invalid patterns are refused", REFUSED, MATCHED, ["InvalidEventPatternException"])
def invalid_patterns(judge: Any) -> list[str]:
    values: list[Any] = ["FAILED", [], [{"exists": "yes"}], [{"EXISTS": True}], [{"cidr": "x"}], [{"numeric": [">", 0, "<"]}]]
    patterns = ["{'", *(json.dumps(detail(status=value)) for value in values)]
    return sorted({refusal(judge.client("events").test_event_pattern, EventPattern=each, Event=EVENT) for each in patterns})
