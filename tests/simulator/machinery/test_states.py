import json
import threading
import time
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError

from local_aws import faults
from local_aws.clock import clock
from local_aws.states import executions
from local_aws.testing import ask
from tests.simulator.machinery.account import Account, arn, until

ECHO = "def handler(event, context): return event"
SLOW = "import time\ndef handler(event, context): time.sleep(1.5)"
VERY_SLOW = SLOW.replace("1.5", "15")
WAIT: dict[str, Any] = {"W": {"Type": "Wait", "Seconds": 3600, "End": True}}


def task(function: str, **more: Any) -> dict[str, Any]:
    parameters = {"FunctionName": function, "Payload.$": "$"}
    return {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": parameters, "End": True, **more}


def test_a_wait_takes_its_time_on_the_clock(account: Account) -> None:
    machine = account.machine("m", {"W": {"Type": "Wait", "Seconds": 90, "End": True}})
    begin, host = clock.seconds(), time.monotonic()
    assert account.ended(account.start(machine))["status"] == "SUCCEEDED"
    assert clock.seconds() - begin >= 90
    assert time.monotonic() - host < 20


def test_an_execution_that_ends_at_once_is_heard_of_as_running_first(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    start = executions._start

    def start_and_end(execution: Any) -> None:
        start(execution)
        assert execution.over.wait(20)

    monkeypatch.setattr(executions, "_start", start_and_end)
    account.ended(account.start(account.machine("m", {"P": {"Type": "Pass", "End": True}})))

    def heard() -> list[str]:
        return [entry["event"]["detail"]["status"] for entry in ask("events") if entry["event"]["source"] == "aws.states"]

    until(lambda: len(heard()) == 2)
    assert heard() == ["RUNNING", "SUCCEEDED"]


def test_a_function_is_called_as_a_task_and_its_payload_is_the_result(account: Account) -> None:
    function = account.function("f", ECHO)
    machine = account.machine("m", {"T": task(function, OutputPath="$.Payload")})
    assert json.loads(account.ended(account.start(machine, {"n": 1}))["output"]) == {"n": 1}


def test_the_context_has_the_clocks_times(account: Account) -> None:
    states = {
        "W": {"Type": "Wait", "Seconds": 60, "Next": "P"},
        "P": {
            "Type": "Pass",
            "Parameters": {
                "entered.$": "$$.State.EnteredTime",
                "started.$": "$$.Execution.StartTime",
                "name.$": "$$.Execution.Name",
            },
            "End": True,
        },
    }
    output = json.loads(account.ended(account.start(account.machine("m", states), name="mine"))["output"])
    assert output["name"] == "mine"
    started, entered = (datetime.fromisoformat(output[key]) for key in ("started", "entered"))
    assert output["started"].endswith("Z")
    assert (entered - started).total_seconds() >= 60
    assert entered <= clock.now().astimezone(UTC)


def test_retries_wait_on_the_clock_and_the_error_has_the_functions_name_for_it(account: Account) -> None:
    function = account.function("f", "def handler(event, context): raise ValueError('no')")
    retry = [{"ErrorEquals": ["ValueError"], "IntervalSeconds": 10, "MaxAttempts": 2, "BackoffRate": 2}]
    begin = clock.seconds()
    ended = account.ended(account.start(account.machine("m", {"T": task(function, Retry=retry)})))
    assert clock.seconds() - begin >= 30
    assert (ended["status"], ended["error"]) == ("FAILED", "ValueError")
    assert len(account.ran("f")) == 3


@pytest.mark.parametrize(
    ("code", "error"), [("import os\ndef handler(e, c): os._exit(1)", "Runtime.ExitError"), ("x = 1", "Runtime.HandlerNotFound")]
)
def test_a_function_that_cannot_run_fails_its_task(account: Account, code: str, error: str) -> None:
    ended = account.ended(account.start(account.machine("m", {"T": task(account.function("f", code))})))
    assert ended["error"] == error


def test_an_error_of_lambdas_own_can_be_retried_by_its_name(account: Account) -> None:
    function = account.function("f", ECHO)
    machine = account.machine("m", {"T": task(function, Retry=[{"ErrorEquals": ["Lambda.TooManyRequestsException"]}])})
    faults.order(faults.Fault("lambda:Invoke", code="TooManyRequestsException", message="Rate Exceeded.", status=429))
    assert account.ended(account.start(machine))["status"] == "SUCCEEDED"


def test_an_execution_times_out_on_the_clock(account: Account) -> None:
    ended = account.ended(account.start(account.machine("m", WAIT, TimeoutSeconds=120)))
    assert ended["status"] == "TIMED_OUT"
    assert (ended["stopDate"] - ended["startDate"]).total_seconds() >= 120


def test_a_task_times_out_on_the_clock_which_does_not_race_ahead_of_real_work(account: Account) -> None:
    function = account.function("f", SLOW)
    quick = account.ended(account.start(account.machine("quick", {"T": task(function, TimeoutSeconds=1)})))
    assert (quick["status"], quick["error"]) == ("FAILED", "States.Timeout")
    patient = account.ended(account.start(account.machine("patient", {"T": task(function, TimeoutSeconds=30)})))
    assert patient["status"] == "SUCCEEDED"


@pytest.mark.parametrize("state", ["waiting", "working", "just started"])
def test_a_stopped_execution_ends_at_once_with_its_error_and_cause(account: Account, state: str) -> None:
    states = {"T": task(account.function("f", VERY_SLOW))} if state == "working" else WAIT
    execution = account.start(account.machine("m", states))
    if state != "just started":
        time.sleep(0.1)
    begin = time.monotonic()
    account.stepfunctions.stop_execution(executionArn=execution, error="Superseded", cause="a newer request")
    ended = account.stepfunctions.describe_execution(executionArn=execution)
    assert time.monotonic() - begin < 5
    assert (ended["status"], ended["error"], ended["cause"]) == ("ABORTED", "Superseded", "a newer request")
    assert ended["stopDate"] >= ended["startDate"]


def test_a_stopped_execution_stays_stopped_when_its_task_ends(account: Account) -> None:
    execution = account.start(account.machine("m", {"T": task(account.function("f", SLOW))}))
    time.sleep(0.1)
    account.stepfunctions.stop_execution(executionArn=execution)
    until(lambda: account.ran("f"))
    assert account.stepfunctions.describe_execution(executionArn=execution)["status"] == "ABORTED"


def test_unnamed_executions_have_names_of_their_own(account: Account) -> None:
    machine = account.machine("m", WAIT)
    assert account.start(machine) != account.start(machine)


def test_starting_an_execution_twice_is_starting_it_once(account: Account) -> None:
    machine = account.machine("m", WAIT)
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(account.start(machine, {"n": 1}, name="same"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert len(set(found)) == 1
    assert len(account.stepfunctions.list_executions(stateMachineArn=machine)["executions"]) == 1


def test_executions_are_listed_by_status_and_in_pages(account: Account) -> None:
    machine = account.machine("m", WAIT)
    running = [account.start(machine) for _ in range(3)]
    stopped = account.start(machine)
    account.stepfunctions.stop_execution(executionArn=stopped)
    pages = account.stepfunctions.get_paginator("list_executions").paginate(
        stateMachineArn=machine, statusFilter="RUNNING", PaginationConfig={"PageSize": 2}
    )
    assert {each["executionArn"] for page in pages for each in page["executions"]} == set(running)
    aborted = account.stepfunctions.list_executions(stateMachineArn=machine, statusFilter="ABORTED")["executions"]
    assert [each["executionArn"] for each in aborted] == [stopped]


def test_input_over_256_kib_is_refused(account: Account) -> None:
    with pytest.raises(ClientError, match="length less than or equal to 262144"):
        account.start(account.machine("m", WAIT), {"x": "y" * 262_144})


def test_a_machine_whose_role_may_not_call_the_function_fails_as_on_aws(account: Account) -> None:
    function = account.function("f", ECHO)
    only_other = {"Effect": "Allow", "Action": "lambda:InvokeFunction", "Resource": arn("lambda", "function:other")}
    ended = account.ended(account.start(account.machine("m", {"T": task(function)}, only_other)))
    assert (ended["status"], ended["error"]) == ("FAILED", "Lambda.AWSLambdaException")
    assert "is not authorized to perform: lambda:InvokeFunction" in ended["cause"]
    assert account.ran("f") == []


def test_a_role_that_step_functions_cannot_assume_is_refused(account: Account) -> None:
    role = account.role("r", principal="lambda.amazonaws.com")
    definition = json.dumps({"StartAt": "W", "States": WAIT})
    with pytest.raises(ClientError, match="is authorized to assume"):
        account.stepfunctions.create_state_machine(name="m", definition=definition, roleArn=role)


def logging_to(group: str, *, data: bool) -> dict[str, Any]:
    destination = {"cloudWatchLogsLogGroup": {"logGroupArn": arn("logs", f"log-group:{group}:*")}}
    return {"level": "ALL", "includeExecutionData": data, "destinations": [destination]}


def test_executions_are_logged_without_their_data_when_the_machine_says_so(account: Account) -> None:
    account.log_group("/machine")
    for name, data in (("silent", False), ("open", True)):
        states = {"P": {"Type": "Pass", "End": True}}
        account.ended(
            account.start(account.machine(name, states, loggingConfiguration=logging_to("/machine", data=data)), {"secret": name})
        )
    text = "\n".join(account.messages("/machine"))
    assert "ExecutionSucceeded" in text
    assert 'secret\\": \\"open' in text or 'secret\\":\\"open' in text
    assert 'silent\\"}' not in text


def test_a_role_that_may_not_deliver_logs_is_refused(account: Account) -> None:
    account.log_group("/machine")
    invoke = {"Effect": "Allow", "Action": "lambda:InvokeFunction", "Resource": "*"}
    with pytest.raises(ClientError, match="not authorized to access the Log Destination"):
        account.machine("m", WAIT, invoke, loggingConfiguration=logging_to("/machine", data=False))


def test_deleting_a_machine_aborts_its_executions(account: Account) -> None:
    account.rule("r", {"source": ["aws.states"], "detail": {"status": ["ABORTED"]}}, account.function("ends", ECHO))
    machine = account.machine("m", WAIT)
    execution = account.start(machine)
    account.stepfunctions.delete_state_machine(stateMachineArn=machine)
    (ran,) = until(lambda: account.ran("ends"))
    assert ran["event"]["detail"]["executionArn"] == execution
