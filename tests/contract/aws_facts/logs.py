"""Facts of CloudWatch Logs, Systems Manager parameters and Secrets Manager."""

import time
from typing import Any

from tests.contract.aws_facts.engine import Engine
from tests.contract.aws_facts.fact import documented, fact, refusal

FILTER = "CloudWatch Logs API reference: FilterLogEvents"
TIERS = "AWS Systems Manager user guide: parameter tiers"
PARAMETERS = "AWS Systems Manager API reference: GetParameter, PutParameter, DeleteParameter"
SECRETS = "LocalStack, tests/aws/services/secretsmanager/test_secretsmanager.py, creation of a secret scheduled for deletion"
TOKENS = "LocalStack, tests/aws/services/logs/test_logs_filter_events.py::test_filter_log_events_unknown_token"


def streams(judge: Engine, *names: str) -> str:
    """Return a new log group in which the events of the streams take turns: a1, b1, a2, b2."""
    logs, group, now = judge.client("logs"), judge.name(), int(time.time() * 1000) - 60_000
    logs.create_log_group(logGroupName=group)
    judge.later(logs.delete_log_group, logGroupName=group)
    for place, name in enumerate(names):
        logs.create_log_stream(logGroupName=group, logStreamName=name)
        events = [{"timestamp": now + 10 * turn + place, "message": f"{name}{turn}"} for turn in (1, 2)]
        logs.put_log_events(logGroupName=group, logStreamName=name, logEvents=events)
    judge.until(lambda: len(logs.filter_log_events(logGroupName=group)["events"]) == 2 * len(names))
    return group


def messages(judge: Engine, **arguments: Any) -> str:
    """Return the messages of all pages from streams a and b."""
    pages = judge.client("logs").get_paginator("filter_log_events")
    found = pages.paginate(logGroupName=streams(judge, "a", "b"), **arguments)
    return " ".join(event["message"] for page in found for event in page["events"])


@documented(
    "logs-filter-order", says="the events of all streams come in the order of time", source=FILTER, expected="a1 b1 a2 b2"
)
def filter_order(judge: Engine) -> str:
    return messages(judge)


@documented("logs-filter-pages", says="pages continue in that order", source=FILTER, expected="a1 b1 a2 b2")
def filter_pages(judge: Engine) -> str:
    return messages(judge, PaginationConfig={"PageSize": 1})


@documented("logs-filter-prefix", says="a prefix selects streams by their names", source=FILTER, expected="a1 a2")
def filter_prefix(judge: Engine) -> str:
    return messages(judge, logStreamNamePrefix="a")


@fact("logs-filter-token", says="a wrong token fails", source=TOKENS, date="2026-02-05", expected="InvalidParameterException")
def filter_token(judge: Engine) -> str:
    return refusal(judge.client("logs").filter_log_events, logGroupName=streams(judge), nextToken="not-a-token")


@documented("logs-filter-no-group", says="an unknown group fails", source=FILTER, expected="ResourceNotFoundException")
def no_group(judge: Engine) -> str:
    return refusal(judge.client("logs").filter_log_events, logGroupName=judge.name())


def written(judge: Engine, size: int, tier: str) -> str:
    ssm, name = judge.client("ssm"), f"/{judge.name()}"
    judge.later(ssm.delete_parameter, Name=name)
    return refusal(ssm.put_parameter, Name=name, Value="x" * size, Type="String", Tier=tier)


@documented(
    "ssm-size", says="a standard parameter has at most 4,096 bytes", source=TIERS, expected="accepted ValidationException"
)
def size(judge: Engine) -> str:
    return f"{written(judge, 4096, 'Standard')} {written(judge, 4097, 'Standard')}"


@documented("ssm-size-advanced", says="an advanced one has 8,192", source=TIERS, expected="accepted ValidationException")
def size_advanced(judge: Engine) -> str:
    return f"{written(judge, 8192, 'Advanced')} {written(judge, 8193, 'Advanced')}"


@documented("ssm-versions", says="each write is a new version", source=PARAMETERS, expected=[1, "ParameterAlreadyExists", 2])
def versions(judge: Engine) -> list[Any]:
    ssm, given = judge.client("ssm"), {"Name": f"/{judge.name()}", "Value": "x", "Type": "String"}
    judge.later(ssm.delete_parameter, Name=given["Name"])
    first = ssm.put_parameter(**given)["Version"]
    return [first, refusal(ssm.put_parameter, **given), ssm.put_parameter(**given, Overwrite=True)["Version"]]


@documented("ssm-not-found", says="an unknown parameter cannot be read", source=PARAMETERS, expected="ParameterNotFound")
def not_found(judge: Engine) -> str:
    return refusal(judge.client("ssm").get_parameter, Name=f"/{judge.name()}")


@documented(
    "ssm-delete-not-found", says="an unknown parameter cannot be deleted", source=PARAMETERS, expected="ParameterNotFound"
)
def deletion_not_found(judge: Engine) -> str:
    return refusal(judge.client("ssm").delete_parameter, Name=f"/{judge.name()}")


@fact("secret-scheduled", says="its name stays taken", source=SECRETS, date="2022-09-28", expected="InvalidRequestException")
def scheduled(judge: Engine) -> str:
    secrets, name = judge.client("secretsmanager"), judge.name()
    secrets.create_secret(Name=name, SecretString="{}")
    judge.later(secrets.delete_secret, SecretId=name, ForceDeleteWithoutRecovery=True)
    secrets.delete_secret(SecretId=name)
    return refusal(secrets.create_secret, Name=name, SecretString="{}")
