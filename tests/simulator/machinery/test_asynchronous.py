import json
from pathlib import Path

import pytest

from local_aws import faults
from local_aws.clock import clock
from tests.simulator.machinery.account import Account, arn, until

FAILS = "def handler(event, context): raise ValueError('no')"
WORKS = "def handler(event, context): return event"


def send(account: Account, function: str, event: object) -> None:
    answer = account.lambda_.invoke(FunctionName=function, Payload=json.dumps(event), InvocationType="Event")
    assert answer["StatusCode"] == 202


def test_an_asynchronous_invocation_is_answered_before_it_runs(account: Account, tmp_path: Path) -> None:
    may_end = tmp_path / "may_end"
    waits = f"import os, time\ndef handler(event, context):\n    while not os.path.exists({str(may_end)!r}): time.sleep(0.01)"
    account.function("f", waits)
    send(account, "f", {})
    assert not account.ran("f")
    may_end.touch()
    until(lambda: account.ran("f"))


def test_a_failing_event_is_tried_three_times_a_minute_and_two_minutes_apart(account: Account) -> None:
    account.function("f", FAILS)
    begin = clock.seconds()
    send(account, "f", {"n": 1})
    runs = until(lambda: len(account.ran("f")) == 3 and account.ran("f"))
    assert clock.seconds() - begin >= 180
    assert [run["attempt"] for run in runs] == [1, 2, 3]
    assert len({run["request_id"] for run in runs}) == 1


def test_the_failure_destination_gets_lambdas_record_of_the_end(account: Account) -> None:
    account.function("f", FAILS)
    account.function("last", WORKS)
    destination = {"OnFailure": {"Destination": arn("lambda", "function:last")}}
    account.lambda_.put_function_event_invoke_config(FunctionName="f", MaximumRetryAttempts=1, DestinationConfig=destination)
    send(account, "f", {"n": 1})
    record = until(lambda: account.ran("last"))[0]["event"]
    assert record["version"] == "1.0"
    context = record["requestContext"]
    assert (context["condition"], context["approximateInvokeCount"]) == ("RetriesExhausted", 2)
    assert context["functionArn"] == arn("lambda", "function:f:$LATEST")
    assert record["requestPayload"] == {"n": 1}
    assert record["responseContext"] == {"statusCode": 200, "executedVersion": "$LATEST", "functionError": "Unhandled"}
    assert record["responsePayload"]["errorType"] == "ValueError"


def test_a_second_configuration_takes_the_place_of_the_first(account: Account) -> None:
    account.function("f", FAILS)
    for attempts in (2, 0):
        account.lambda_.put_function_event_invoke_config(FunctionName="f", MaximumRetryAttempts=attempts)
    assert account.lambda_.get_function_event_invoke_config(FunctionName="f")["MaximumRetryAttempts"] == 0


def test_a_role_that_may_not_invoke_the_destination_loses_the_record(account: Account) -> None:
    account.function("f", FAILS, {"Effect": "Allow", "Action": "logs:*", "Resource": "*"})
    account.function("last", WORKS)
    destination = {"OnFailure": {"Destination": arn("lambda", "function:last")}}
    account.lambda_.put_function_event_invoke_config(FunctionName="f", MaximumRetryAttempts=0, DestinationConfig=destination)
    send(account, "f", {})
    until(lambda: account.ran("f"))
    clock.sleep(60)
    assert account.ran("last") == []


def test_lambda_can_refuse_an_invocation(account: Account) -> None:
    account.function("f", WORKS)
    faults.order(faults.Fault("lambda:Invoke", code="TooManyRequestsException", message="Rate Exceeded.", status=429, times=1))
    with pytest.raises(account.lambda_.exceptions.TooManyRequestsException):
        account.client_without_retries("lambda").invoke(FunctionName="f")
    assert account.call("f", {"n": 1}) == {"n": 1}
