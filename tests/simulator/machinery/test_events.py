import json
from typing import Any

import pytest

from local_aws import events, faults
from local_aws.clock import clock
from local_aws.testing import ACCOUNT, REGION, ask
from tests.simulator.machinery.account import Account, arn, until

ECHO = "def handler(event, context): return event"
FUNCTION = arn("lambda", "function:target")
RULE = arn("events", "rule/rule")


def publish(**detail: Any) -> None:
    events.publish(ACCOUNT, REGION, source="aws.states", detail_type="Status Change", detail=detail, resources=["one"])


def outcome() -> str | None:
    published = ask("events")
    return published[-1]["deliveries"].get(FUNCTION) if published else None


@pytest.fixture
def rule(account: Account) -> Account:
    """The account with a rule for failures, and a function that it may invoke."""
    pattern = {"source": ["aws.states"], "detail": {"status": ["FAILED"]}}
    account.rule("rule", pattern, account.function("target", ECHO))
    return account


def test_a_matching_event_reaches_the_function(rule: Account) -> None:
    publish(status="FAILED")
    (ran,) = until(lambda: rule.ran("target"))
    event = ran["event"]
    assert event["detail"] == {"status": "FAILED"}
    assert (event["source"], event["detail-type"], event["account"], event["region"]) == (
        "aws.states",
        "Status Change",
        ACCOUNT,
        REGION,
    )
    assert event["time"].endswith("Z")
    assert set(event) == {"version", "id", "detail-type", "source", "account", "time", "region", "resources", "detail"}


def test_an_event_that_does_not_match_reaches_no_target(rule: Account) -> None:
    publish(status="SUCCEEDED")
    publish(status="FAILED")
    until(lambda: rule.ran("target"))
    assert [ran["event"]["detail"] for ran in rule.ran("target")] == [{"status": "FAILED"}]


def test_a_disabled_rule_sends_nothing(rule: Account) -> None:
    rule.events.disable_rule(Name="rule")
    publish(status="FAILED")
    clock.sleep(60)
    assert rule.ran("target") == []


def test_a_users_event_is_delivered_too(rule: Account) -> None:
    entry = {"Source": "aws.states", "DetailType": "mine", "Detail": json.dumps({"status": "FAILED"})}
    assert rule.events.put_events(Entries=[entry])["FailedEntryCount"] == 0
    (ran,) = until(lambda: rule.ran("target"))
    assert ran["event"]["detail-type"] == "mine"
    assert ran["event"]["time"].endswith("Z")


@pytest.mark.parametrize(
    "permission",
    [
        {"Principal": "s3.amazonaws.com"},
        {"SourceArn": arn("events", "rule/another")},
        {"SourceAccount": "999999999999"},
        {"Action": "lambda:GetFunction"},
    ],
)
def test_a_function_whose_policy_does_not_name_the_rule_is_not_invoked(rule: Account, permission: dict[str, Any]) -> None:
    rule.lambda_.remove_permission(FunctionName="target", StatementId="events")
    given = {"Action": "lambda:InvokeFunction", "Principal": "events.amazonaws.com", "SourceArn": RULE, **permission}
    rule.lambda_.add_permission(FunctionName="target", StatementId="events", **given)
    publish(status="FAILED")
    assert "policy does not allow events.amazonaws.com" in until(outcome)
    assert rule.ran("target") == []


def test_a_function_that_is_gone_is_noted(rule: Account) -> None:
    rule.lambda_.delete_function(FunctionName="target")
    publish(status="FAILED")
    assert until(outcome).startswith("lost: ")


def test_delivery_is_tried_again_while_lambda_refuses(rule: Account) -> None:
    faults.order(faults.Fault("lambda:Invoke", code="ServiceException", message="not now", status=500, times=20))
    publish(status="FAILED")
    until(lambda: rule.ran("target"), seconds=60)
    assert until(outcome) == "delivered"


@pytest.mark.parametrize(
    ("filters", "matches"),
    [
        ([{"prefix": "FA"}], True),
        ([{"anything-but": ["SUCCEEDED", "RUNNING"]}], True),
        ([{"anything-but": ["FAILED"]}], False),
        ([{"exists": False}], False),
        ([{"exists": True}], True),
        ([{"wildcard": "F*D"}], True),
    ],
)
def test_patterns_are_matched_as_on_aws(rule: Account, filters: list[Any], matches: bool) -> None:
    rule.events.put_rule(Name="rule", EventPattern=json.dumps({"detail": {"status": filters}}))
    publish(status="FAILED")
    if matches:
        until(lambda: rule.ran("target"))
    else:
        clock.sleep(30)
        assert rule.ran("target") == []
