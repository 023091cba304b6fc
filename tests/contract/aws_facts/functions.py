"""Facts of Lambda: the states of a function, limits, and events that cannot be processed."""

import json
from typing import Any

from tests.contract.aws_facts.fact import fact, refusal

GUIDE = "AWS Lambda Developer Guide: "
RECORDED = "localstack lambda_/test_lambda.py::"
FAILS = "def handler(event, context): raise ValueError('no')"
BOTH = ("engine", "soak")


@fact("lambda-state", "a new function is Pending", RECORDED + "test_function_state", "2025-11-24", "Pending")
def pending(judge: Any) -> str:
    return str(judge.create_function()["State"])


@fact("lambda-payload-size", "an event has at most 1 MB", GUIDE + "quotas", "documented", "RequestEntityTooLargeException")
def payload_size(judge: Any) -> str:
    event = json.dumps("x" * 1_048_577)
    return refusal(judge.client("lambda").invoke, FunctionName=judge.function(), InvocationType="Event", Payload=event)


@fact(
    "lambda-reserved-zero",
    "a function without concurrency is throttled",
    RECORDED + "test_lambda_concurrency_block",
    "2025-11-24",
    "TooManyRequestsException",
)
def reserved_zero(judge: Any) -> str:
    functions, name = judge.client("lambda"), judge.function()
    functions.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=0)
    return refusal(judge.client_without_retries("lambda").invoke, FunctionName=name)


@fact(
    "lambda-reserved-zero-event",
    "an event for a function without concurrency is lost at once",
    GUIDE + "configuring reserved concurrency",
    "documented",
    "ZeroReservedConcurrency 0",
)
def reserved_zero_event(judge: Any) -> str:
    return _lost(judge.lost_event(FAILS, concurrency=0))


@fact(
    "lambda-retries",
    "a failed event is tried three times",
    GUIDE + "asynchronous invocation",
    "documented",
    "RetriesExhausted 3",
    BOTH,
)
def retries(judge: Any) -> str:
    return _lost(judge.lost_event(FAILS))


@fact(
    "lambda-age", "an event that is too old is lost", GUIDE + "asynchronous invocation", "documented", "EventAgeExceeded 1", BOTH
)
def age(judge: Any) -> str:
    return _lost(judge.lost_event(FAILS, age_s=60))


def _lost(lost: tuple[Any, int]) -> str:
    record, attempts = lost
    return f"{record['requestContext']['condition']} {attempts}"
