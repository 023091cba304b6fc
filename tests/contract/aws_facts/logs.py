"""Facts of CloudWatch Logs and Systems Manager's parameters."""

import json
import time
from typing import Any

from tests.contract.aws_facts.engine import Engine
from tests.contract.aws_facts.fact import documented, fact, refusal

FILTER, SYNTAX = "CloudWatch Logs API reference: FilterLogEvents", "CloudWatch Logs user guide: filter pattern syntax"
TIERS, SSM = "AWS Systems Manager user guide: parameter tiers", "AWS Systems Manager API reference"
TOKENS = "LocalStack's recording logs/test_logs_filter_events.py"
IN_TURN, TOO_LONG, CALLS = "a1 b1 a2 b2", "ValidationException", ("get_parameter", "delete_parameter")


def log_group(judge: Engine) -> str:
    """Return a new log group, to which two streams write in turn."""
    logs, group, now = judge.client("logs"), judge.name(), int(time.time() * 1000) - 60_000
    logs.create_log_group(logGroupName=group)
    judge.later(logs.delete_log_group, logGroupName=group)
    for place, name in enumerate("ab"):
        logs.create_log_stream(logGroupName=group, logStreamName=name)
        events = [{"timestamp": now + 10 * turn + place, "message": f'{{"id": "{name}{turn}"}}'} for turn in (1, 2)]
        logs.put_log_events(logGroupName=group, logStreamName=name, logEvents=events)
    judge.until(lambda: len(logs.filter_log_events(logGroupName=group)["events"]) == 4)
    return group


def finds(name: str, says: str, source: str, expected: str, **arguments: Any) -> None:
    """Register what FilterLogEvents returns of streams a and b, on all pages."""

    def question(judge: Engine) -> str:
        pages = judge.client("logs").get_paginator("filter_log_events")
        found = pages.paginate(logGroupName=log_group(judge), **arguments)
        return " ".join(json.loads(event["message"])["id"] for page in found for event in page["events"])

    documented(f"logs-filter-{name}", says, source, expected=expected)(question)


finds("order", "the events of all streams come in the order of time", FILTER, IN_TURN)
finds("pages", "pages continue in that order", FILTER, IN_TURN, PaginationConfig={"PageSize": 1})
finds("prefix", "a prefix selects streams by their names", FILTER, "a1 a2", logStreamNamePrefix="a")
finds("pattern-or", "a pattern selects JSON lines", SYNTAX, "b1 a2", filterPattern='{ $.id = "b1" || $.id = "a2" }')
finds("pattern-and", "all its terms hold", SYNTAX, "b2", filterPattern='{ $.id = "b*" && $.id != "b1" }')
fact("logs-filter-token", "a wrong token fails", TOKENS, "2026-02-05", "InvalidParameterException")(
    lambda judge: refusal(judge.client("logs").filter_log_events, logGroupName=log_group(judge), nextToken="not-a-token")
)
documented("logs-filter-no-group", "an unknown group fails", FILTER, expected="ResourceNotFoundException")(
    lambda judge: refusal(judge.client("logs").filter_log_events, logGroupName=judge.name())
)
documented("ssm-not-found", "an unknown parameter is neither read nor deleted", SSM, expected=["ParameterNotFound"] * 2)(
    lambda judge: [refusal(getattr(judge.client("ssm"), each), Name=f"/{judge.name()}") for each in CALLS]
)


@documented("ssm-size", "a parameter has at most 4,096 bytes, an advanced one 8,192", TIERS, expected=["accepted", TOO_LONG] * 2)
def size(judge: Engine) -> list[str]:
    ssm, name = judge.client("ssm"), f"/{judge.name()}"
    judge.later(ssm.delete_parameter, Name=name)
    given = {"Name": name, "Type": "String", "Overwrite": True}
    sizes = [("Standard", 4096), ("Standard", 4097), ("Advanced", 8192), ("Advanced", 8193)]
    return [refusal(ssm.put_parameter, **given, Tier=tier, Value="x" * size) for tier, size in sizes]
