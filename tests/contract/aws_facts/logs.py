"""Facts of CloudWatch Logs, Systems Manager parameters and Secrets Manager."""

import time
from typing import Any

from tests.contract.aws_facts.engine import Engine
from tests.contract.aws_facts.fact import fact, refusal

RECORDED = "LocalStack, tests/aws/services/logs"
FILTER = "CloudWatch Logs API reference: FilterLogEvents"
PARAMETERS = "AWS Systems Manager user guide: parameter tiers"


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
    """Return the messages of all pages."""
    pages = judge.client("logs").get_paginator("filter_log_events").paginate(**arguments)
    return " ".join(event["message"] for page in pages for event in page["events"])


@fact(
    "logs-filter-order",
    says="the events of different streams come in the order of time",
    source=f"{FILTER}, interleaved",
    date="documented",
    expected="a1 b1 a2 b2",
)
def filter_order(judge: Engine) -> str:
    return messages(judge, logGroupName=streams(judge, "a", "b"))


@fact(
    "logs-filter-pages",
    says="pages continue in that order, and no event is there twice",
    source=f"{FILTER}, nextToken",
    date="documented",
    expected="a1 b1 a2 b2",
)
def filter_pages(judge: Engine) -> str:
    return messages(judge, logGroupName=streams(judge, "a", "b"), PaginationConfig={"PageSize": 1})


@fact(
    "logs-filter-prefix",
    says="a prefix selects streams by their names",
    source=f"{FILTER}, logStreamNamePrefix",
    date="documented",
    expected="a1 a2",
)
def filter_prefix(judge: Engine) -> str:
    return messages(judge, logGroupName=streams(judge, "a", "b"), logStreamNamePrefix="a")


@fact(
    "logs-filter-token",
    says="an unknown token is an error",
    source=f"{RECORDED}/test_logs_filter_events.py::test_filter_log_events_unknown_token",
    date="2026-02-05",
    expected="InvalidParameterException",
)
def filter_token(judge: Engine) -> str:
    return refusal(judge.client("logs").filter_log_events, logGroupName=streams(judge, "a"), nextToken="not-a-token")


@fact(
    "logs-filter-limit",
    says="a page has at most 10,000 events",
    source=f"{RECORDED}/test_logs_filter_events.py::test_filter_log_events_limit_validation",
    date="2026-02-05",
    expected="InvalidParameterException",
)
def filter_limit(judge: Engine) -> str:
    return refusal(judge.client("logs").filter_log_events, logGroupName=streams(judge), limit=10_001)


@fact(
    "logs-filter-no-group",
    says="an unknown group is an error",
    source=FILTER,
    date="documented",
    expected="ResourceNotFoundException",
)
def no_group(judge: Engine) -> str:
    return refusal(judge.client("logs").filter_log_events, logGroupName=judge.name())


@fact(
    "logs-group-twice",
    says="a group is created once",
    source="CloudWatch Logs API reference: CreateLogGroup",
    date="documented",
    expected="ResourceAlreadyExistsException",
)
def group_twice(judge: Engine) -> str:
    return refusal(judge.client("logs").create_log_group, logGroupName=streams(judge))


def parameter(judge: Engine, size: int, **options: str) -> str:
    """Return the answer to a parameter with a value of this size."""
    ssm, name = judge.client("ssm"), f"/{judge.name()}"
    judge.later(ssm.delete_parameter, Name=name)
    return refusal(ssm.put_parameter, Name=name, Value="x" * size, Type="String", **options)


@fact(
    "ssm-size",
    says="a standard parameter has at most 4,096 bytes, an advanced one 8,192",
    source=PARAMETERS,
    date="documented",
    expected=["accepted", "ValidationException", "accepted", "ValidationException"],
)
def size(judge: Engine) -> list[str]:
    advanced = {"Tier": "Advanced"}
    return [
        parameter(judge, 4096),
        parameter(judge, 4097),
        parameter(judge, 8192, **advanced),
        parameter(judge, 8193, **advanced),
    ]


@fact(
    "ssm-versions",
    says="each write is a new version, and writing over a value must be asked for",
    source="Systems Manager API reference: PutParameter",
    date="documented",
    expected=[1, "ParameterAlreadyExists", 2],
)
def versions(judge: Engine) -> list[Any]:
    ssm, given = judge.client("ssm"), {"Name": f"/{judge.name()}", "Value": "x", "Type": "String"}
    judge.later(ssm.delete_parameter, Name=given["Name"])
    first = ssm.put_parameter(**given)["Version"]
    return [first, refusal(ssm.put_parameter, **given), ssm.put_parameter(**given, Overwrite=True)["Version"]]


@fact(
    "ssm-not-found",
    says="an unknown parameter is ParameterNotFound, for a deletion, too",
    source="Systems Manager API reference: GetParameter, DeleteParameter",
    date="documented",
    expected=["ParameterNotFound", "ParameterNotFound"],
)
def not_found(judge: Engine) -> list[str]:
    ssm, name = judge.client("ssm"), f"/{judge.name()}"
    return [refusal(ssm.get_parameter, Name=name), refusal(ssm.delete_parameter, Name=name)]


@fact(
    "secret-scheduled",
    says="a secret that is scheduled for deletion keeps its name",
    source="LocalStack, tests/aws/services/secretsmanager/test_secretsmanager.py, creation of a secret scheduled for deletion",
    date="2022-09-28",
    expected="InvalidRequestException",
)
def scheduled(judge: Engine) -> str:
    secrets, name = judge.client("secretsmanager"), judge.name()
    secrets.create_secret(Name=name, SecretString="{}")
    judge.later(secrets.delete_secret, SecretId=name, ForceDeleteWithoutRecovery=True)
    secrets.delete_secret(SecretId=name)
    return refusal(secrets.create_secret, Name=name, SecretString="{}")


@fact(
    "secret-missing",
    says="an unknown secret is ResourceNotFoundException",
    source="Secrets Manager API reference: GetSecretValue",
    date="documented",
    expected="ResourceNotFoundException",
)
def secret_missing(judge: Engine) -> str:
    return refusal(judge.client("secretsmanager").get_secret_value, SecretId=judge.name())


@fact(
    "secret-current",
    says="a read returns the newest version",
    source="Secrets Manager API reference: GetSecretValue, AWSCURRENT",
    date="documented",
    expected="2",
)
def current(judge: Engine) -> str:
    secrets, name = judge.client("secretsmanager"), judge.name()
    secrets.create_secret(Name=name, SecretString="1")
    judge.later(secrets.delete_secret, SecretId=name, ForceDeleteWithoutRecovery=True)
    secrets.put_secret_value(SecretId=name, SecretString="2")
    return str(secrets.get_secret_value(SecretId=name)["SecretString"])
