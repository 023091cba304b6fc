"""Faults that can be ordered for every service, for functions' processes and for executions."""

import json
from typing import Any

import pytest
from botocore.config import Config
from botocore.exceptions import ClientError, ConnectionClosedError

from local_aws import faults
from local_aws.clock import clock
from local_aws.faults import Fault
from local_aws.testing import Client, ask
from tests.simulator.machinery.account import Account, until

ONCE = Config(retries={"total_max_attempts": 1})
ECHO = "def handler(event, context): return event"
CALLS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("sagemaker:ListClusters", "sagemaker", "list_clusters", {}),
    ("states:ListStateMachines", "stepfunctions", "list_state_machines", {}),
    ("lambda:ListFunctions", "lambda", "list_functions", {}),
    ("iam:ListRoles", "iam", "list_roles", {}),
    ("sts:GetCallerIdentity", "sts", "get_caller_identity", {}),
    ("ec2:DescribeVpcs", "ec2", "describe_vpcs", {}),
    ("s3:ListObjectsV2", "s3", "list_objects_v2", {"Bucket": "b"}),
    ("s3:PutObject", "s3", "put_object", {"Bucket": "b", "Key": "a/b", "Body": b"x"}),
    ("s3:ListBuckets", "s3", "list_buckets", {}),
    ("cloudformation:DescribeStacks", "cloudformation", "describe_stacks", {}),
    ("events:ListRules", "events", "list_rules", {}),
    ("logs:DescribeLogGroups", "logs", "describe_log_groups", {}),
    ("fsx:DescribeFileSystems", "fsx", "describe_file_systems", {}),
    ("ssm:GetParameter", "ssm", "get_parameter", {"Name": "p"}),
    ("kms:ListKeys", "kms", "list_keys", {}),
    ("ecr:DescribeRepositories", "ecr", "describe_repositories", {}),
    ("monitoring:DescribeAlarms", "cloudwatch", "describe_alarms", {}),
    ("servicequotas:ListServices", "service-quotas", "list_services", {}),
]


@pytest.mark.parametrize(("operation", "service", "method", "request_"), CALLS, ids=[call[0] for call in CALLS])
def test_a_call_of_any_service_can_be_refused_in_its_own_protocol(
    client: Client, operation: str, service: str, method: str, request_: dict[str, Any]
) -> None:
    faults.order(Fault(operation, code="ThrottlingException", message="Rate <exceeded>", status=429))
    call = getattr(client(service, config=ONCE), method)
    with pytest.raises(ClientError) as refused:
        call(**request_)
    assert refused.value.response["Error"]["Code"] == "ThrottlingException"
    assert refused.value.response["Error"]["Message"] == "Rate <exceeded>"
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 429
    assert faults.ordered() == []


def test_calls_that_go_well_first_are_counted_and_others_calls_are_not(account: Account) -> None:
    faults.order(Fault("sts:GetCallerIdentity", after=1, times=2, caller="role/mine", code="Throttling"))
    role = account.as_role(account.role("mine"), "sts")
    assert account.sts.get_caller_identity()["Account"]
    assert "mine" in role.get_caller_identity()["Arn"]
    assert faults.ordered()[0].after == 0
    assert role.get_caller_identity(), "two throttles are retried by the client"
    assert faults.ordered() == []


def test_a_lost_answer_is_of_a_call_that_was_carried_out(account: Account, client: Client) -> None:
    faults.order(Fault("ssm:PutParameter", kind="lose"))
    with pytest.raises(ConnectionClosedError):
        client("ssm", config=ONCE).put_parameter(Name="p", Value="v", Type="String")
    assert account.ssm.get_parameter(Name="p")["Parameter"]["Value"] == "v"


def test_a_delay_takes_its_time_on_the_clock(account: Account) -> None:
    faults.order(Fault("ssm:DescribeParameters", kind="delay", delay_s=120))
    begin = clock.seconds()
    account.ssm.describe_parameters()
    assert clock.seconds() - begin >= 120


def test_a_call_is_carried_out_twice(account: Account) -> None:
    function = account.function("f", ECHO)
    faults.order(Fault("lambda:Invoke", kind="repeat", target="function:f"))
    account.lambda_.invoke(FunctionName=function, InvocationType="Event", Payload=b"{}")
    until(lambda: len(account.ran("f")) == 2)


@pytest.mark.parametrize(("at", "was_done"), [("before", False), ("after", True)])
def test_a_functions_process_is_killed_before_or_after_its_work(account: Account, at: str, was_done: bool) -> None:
    code = (
        "import boto3\ndef handler(e, c): boto3.client('ssm').put_parameter(Name='p', Value='v', Type='String', Overwrite=True)"
    )
    function = account.function("f", code)
    faults.order(Fault("lambda:Run", kind="kill", at=at, target=":f"))
    assert account.call(function)["errorType"] == "Runtime.ExitError"
    assert bool(account.ssm.describe_parameters()["Parameters"]) == was_done
    assert account.call(function) is None, "the next invocation has a process of its own"


@pytest.mark.parametrize(("at", "was_done"), [("before", False), ("after", True)])
def test_a_functions_process_is_killed_around_a_call_that_it_makes(account: Account, at: str, was_done: bool) -> None:
    code = (
        "import boto3\ndef handler(e, c): boto3.client('ssm').put_parameter(Name='p', Value='v', Type='String', Overwrite=True)"
    )
    function = account.function("f", code)
    faults.order(Fault("ssm:PutParameter", kind="kill", at=at, caller="role/f-role"))
    assert account.call(function)["errorMessage"].endswith("signal: killed")
    assert bool(account.ssm.describe_parameters()["Parameters"]) == was_done


@pytest.mark.parametrize(("kind", "status"), [("abort", "ABORTED"), ("fail", "FAILED"), ("time_out", "TIMED_OUT")])
def test_an_execution_is_ended_as_it_enters_a_state(account: Account, kind: str, status: str) -> None:
    states = {"P": {"Type": "Pass", "Next": "W"}, "W": {"Type": "Wait", "Seconds": 86400, "End": True}}
    machine = account.machine("m", states)
    faults.order(Fault("states:Run", kind=kind, after=1, code="Why", message="ordered", target=":m"))
    ended = account.ended(account.start(machine))
    assert ended["status"] == status
    if status != "TIMED_OUT":
        assert (ended["error"], ended["cause"]) == ("Why", "ordered")
    history = account.stepfunctions.get_execution_history(executionArn=ended["executionArn"])["events"]
    assert [event["stateEnteredEventDetails"]["name"] for event in history if "stateEnteredEventDetails" in event] == ["P"]


def test_an_execution_is_ended_as_it_tries_a_task_again(account: Account) -> None:
    function = account.function("f", "def handler(event, context): raise ValueError('not yet')")
    retry = [{"ErrorEquals": ["ValueError"], "IntervalSeconds": 30, "MaxAttempts": 100, "BackoffRate": 1}]
    parameters = {"FunctionName": function}
    task = {"Type": "Task", "Resource": "arn:aws:states:::lambda:invoke", "Parameters": parameters, "Retry": retry, "End": True}
    faults.order(Fault("states:Run", kind="abort", after=3))
    assert account.ended(account.start(account.machine("m", {"T": task})))["status"] == "ABORTED"
    assert len(account.ran("f")) == 3


def test_an_event_is_lost_on_its_way_to_a_function(account: Account) -> None:
    account.rule("r", {"source": ["aws.states"]}, account.function("f", ECHO))
    faults.order(Fault("events:Deliver", kind="lose", target="SUCCEEDED"))
    account.ended(account.start(account.machine("m", {"P": {"Type": "Pass", "End": True}})))
    until(lambda: [each for each in ask("events") if "lost: injected fault" in each["deliveries"].values()])
    until(lambda: account.ran("f"))
    assert [run["event"]["detail"]["status"] for run in account.ran("f")] == ["RUNNING"]


@pytest.mark.parametrize(
    ("order", "words"),
    [
        ({"operation": "sagemaker:CreateCluter"}, "has no operation 'CreateCluter'"),
        ({"operation": "sagemakr:CreateCluster"}, "unknown service 'sagemakr'"),
        ({"operation": "s3:PutObject", "kind": "fail"}, "must be one of"),
        ({"operation": "states:Run", "kind": "lose"}, "('abort', 'fail', 'time_out')"),
        ({"operation": "s3:PutObject", "kind": "kill", "at": "during"}, "got 'during'"),
        ({"operation": "s3:PutObject", "times": 0}, "times must be at least 1"),
        ({"operation": "s3:PutObject", "status": 200}, "400 to 599"),
        ({"operation": "s3:PutObject", "often": 2}, "often"),
    ],
)
def test_an_order_that_cannot_be_carried_out_is_refused(account: Account, order: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match="400") as refused:
        ask("faults", "POST", json.dumps(order).encode())
    assert words in str(refused.value)


def test_what_is_ordered_is_listed_until_it_happened_or_is_forgotten(account: Account) -> None:
    [listed] = ask("faults", "POST", json.dumps({"operation": "s3:PutObject", "times": 3}).encode())
    assert (listed["operation"], listed["kind"], listed["times"]) == ("s3:PutObject", "refuse", 3)
    assert ask("faults", "DELETE") == []
    assert ask("faults") == []
