"""Facts of Lambda, EventBridge, CloudWatch Logs and Systems Manager: limits, lost events, patterns and pages."""

import json
import time
from operator import itemgetter
from typing import Any

from tests.contract.aws_facts.engine import Engine
from tests.contract.aws_facts.fact import BOTH, Fact
from tests.simulator.machinery.account import refusal

LOST, AT_2025 = "localstack lambda_/test_lambda_destinations.py::", "2025-11-24"
RETRIES, AGE = (LOST + "test_lambda_destination_default_retries", AT_2025), (LOST + "test_maxeventage", "2025-11-27")
TESTS = (("function_state", AT_2025), ("lambda_concurrency_block", AT_2025), ("reserved_concurrency", "2025-11-25"))
STATE, BLOCKED, RESERVED = ((f"localstack lambda_/test_lambda.py::test_{name}", date) for name, date in TESTS)
CODE = "the code: ASFHyP3/hyp3 issue 2241, aws/aws-pdk 771, with the limit of then"
QUOTAS = (f"AWS Lambda Developer Guide: quotas; {CODE}", "2024-05-02")
FILTER, SYNTAX = "CloudWatch Logs API reference: FilterLogEvents", "CloudWatch Logs user guide: filter pattern syntax"
TIERS, SSM = "AWS Systems Manager user guide: parameter tiers", "AWS Systems Manager API reference"
TOKENS = ("LocalStack's recording logs/test_logs_filter_events.py", "2026-02-05")
IN_TURN, TOO_LONG, CALLS = "a1 b1 a2 b2", "ValidationException", ("get_parameter", "delete_parameter")


def lost(judge: Any, **options: int) -> list[Any]:
    """Ask why and after how many attempts an event is lost that a function fails to process."""
    return list(itemgetter("condition", "approximateInvokeCount")(judge.lost_event(**options)))


@Fact("lambda-reserved-zero", "without concurrency calls are throttled", BLOCKED, "TooManyRequestsException")
def reserved_zero(judge: Engine) -> str:
    functions, name = judge.client_without_retries("lambda"), judge.active_function()
    functions.put_function_concurrency(FunctionName=name, ReservedConcurrentExecutions=0)
    return refusal(functions.invoke, FunctionName=name)


ZERO, NO_EVENTS, LARGE = ["ZeroReservedConcurrency", 0], "without concurrency events are lost", json.dumps("x" * 1_048_577)
Fact("lambda-payload-size", "an event has at most 1 MB", QUOTAS, "RequestEntityTooLargeException")(
    lambda on: refusal(on.lambda_.invoke, FunctionName=on.active_function(), InvocationType="Event", Payload=LARGE)
)
Fact("lambda-state", "a new function is Pending", STATE, "Pending")(lambda judge: judge.new_function()["State"])
Fact("lambda-reserved-zero-event", NO_EVENTS, RESERVED, ZERO)(lost, concurrency=0)
Fact("lambda-retries", "a failed event is tried three times", RETRIES, ["RetriesExhausted", 3], BOTH)(lost)
Fact("lambda-age", "an event that is too old is lost", AGE, ["EventAgeExceeded", 1], BOTH)(lost, age_s=60)

MATCH, MATCHED, EXISTS = "localstack events/test_events_patterns.py::test_event_pattern ", "2025-10-15", [{"exists": True}]
EVENT = """{"id": "1", "source": "aws.states", "detail-type": "Change", "account": "123456789012", "region": "us-west-2",
"time": "2026-11-28T15:00:00Z", "resources": [], "detail": {"status": "FAILED", "parts": [{"name": "first"}, {"id": 2}]}}"""


def matched(judge: Engine, *patterns: Any) -> list[bool]:
    """Ask which patterns match the event."""
    return [judge.events.test_event_pattern(EventPattern=json.dumps(each), Event=EVENT).get("Result") for each in patterns]


STATUSES = [{"detail": {"status": [*others, "ABORTED"]}} for others in (["FAILED"], [])]
PARTS = [{"detail": {"parts": dict.fromkeys(fields, EXISTS)}} for fields in (["id"], ["id", "name"])]
ARRAYS, EMPTY = (MATCH + "arrays", MATCHED), (MATCH + "exists_list_empty_NEG", MATCHED)
TWO = (MATCH + "list_within_dict; aws/event-ruler's README (two fields)", MATCHED)
REFUSED = (MATCH + "*_EXC; test_invalid_json_event_pattern; EventBridge User Guide: operators", MATCHED)
WRONG: list[Any] = ["FAILED", [], [{"exists": "yes"}], [{"EXISTS": True}], [{"cidr": "x"}], [{"numeric": [">", 0, "<"]}]]
Fact("events-pattern-any", "any value of a list matches", ARRAYS, [True, False])(matched, *STATUSES)
Fact("events-pattern-empty-list", "an empty list is absent", EMPTY, [False])(matched, {"resources": EXISTS})
Fact("events-pattern-list", "one object of a list has all fields", TWO, [True, False])(matched, *PARTS)


@Fact("events-pattern-invalid", "invalid patterns are refused", REFUSED, ["InvalidEventPatternException"])
def invalid_patterns(judge: Engine) -> list[str]:
    patterns = ["{'", *(json.dumps({"detail": {"status": value}}) for value in WRONG)]
    events, name = judge.events, judge.name()
    judge.later(events.delete_rule, Name=name)
    tested = {refusal(events.test_event_pattern, EventPattern=each, Event=EVENT) for each in patterns}
    return sorted(tested | {refusal(events.put_rule, Name=name, EventPattern=each) for each in patterns})


def two_streams(judge: Engine) -> str:
    """Return a new log group, to which two streams write in turn."""
    logs, group, now = judge.logs, judge.log_group(judge.name()), int(time.time() * 1000) - 60_000
    for place, name in enumerate("ab"):
        logs.create_log_stream(logGroupName=group, logStreamName=name)
        events = [{"timestamp": now + 10 * turn + place, "message": f'{{"id": "{name}{turn}"}}'} for turn in (1, 2)]
        logs.put_log_events(logGroupName=group, logStreamName=name, logEvents=events)
    judge.until(lambda: len(judge.messages(group)) == 4)
    return group


def found(judge: Engine, **arguments: Any) -> str:
    """Ask what FilterLogEvents returns of streams a and b, on all pages."""
    pages = judge.logs.get_paginator("filter_log_events").paginate(logGroupName=two_streams(judge), **arguments)
    return " ".join(json.loads(event["message"])["id"] for page in pages for event in page["events"])


OR, AND = '{ $.id = "b1" || $.id = "a2" }', '{ $.id = "b*" && $.id != "b1" }'
Fact("logs-filter-order", "the events of all streams come in the order of time", FILTER, IN_TURN)(found)
Fact("logs-filter-pages", "pages continue in that order", FILTER, IN_TURN)(found, PaginationConfig={"PageSize": 1})
Fact("logs-filter-prefix", "a prefix selects streams by their names", FILTER, "a1 a2")(found, logStreamNamePrefix="a")
Fact("logs-filter-pattern-or", "a pattern selects JSON lines", SYNTAX, "b1 a2")(found, filterPattern=OR)
Fact("logs-filter-pattern-and", "all its terms hold", SYNTAX, "b2")(found, filterPattern=AND)
Fact("logs-filter-token", "a wrong token fails", TOKENS, "InvalidParameterException")(
    lambda judge: refusal(judge.logs.filter_log_events, logGroupName=two_streams(judge), nextToken="not-a-token")
)
Fact("logs-filter-no-group", "an unknown group fails", FILTER, "ResourceNotFoundException")(
    lambda judge: refusal(judge.logs.filter_log_events, logGroupName=judge.name())
)
Fact("ssm-not-found", "an unknown parameter is neither read nor deleted", SSM, ["ParameterNotFound"] * 2)(
    lambda judge: [refusal(getattr(judge.ssm, each), Name=f"/{judge.name()}") for each in CALLS]
)


@Fact("ssm-size", "a parameter has at most 4,096 bytes, an advanced one 8,192", TIERS, ["accepted", TOO_LONG] * 2)
def size(judge: Engine) -> list[str]:
    given = {"Name": f"/{judge.name()}", "Type": "String", "Overwrite": True}
    judge.later(judge.ssm.delete_parameter, Name=given["Name"])
    sizes = [("Standard", 4096), ("Standard", 4097), ("Advanced", 8192), ("Advanced", 8193)]
    return [refusal(judge.ssm.put_parameter, **given, Tier=tier, Value="x" * size) for tier, size in sizes]
