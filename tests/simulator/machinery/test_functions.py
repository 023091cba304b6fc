from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from local_aws import server
from local_aws.functions import invocation
from tests.simulator.machinery.account import EVERYTHING, Account, arn, package

COUNTING = """
import os
count = 0
def handler(event, context):
    global count
    count += 1
    print("call", count, event.get("word", ""))
    return {"count": count, "pid": os.getpid()}
"""


def is_running(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_a_function_stays_loaded_between_invocations(account: Account) -> None:
    account.function("f", COUNTING)
    first, second = account.call("f"), account.call("f")
    assert (first["count"], second["count"]) == (1, 2)
    assert first["pid"] == second["pid"]


def test_new_code_runs_in_a_new_process(account: Account) -> None:
    account.function("f", COUNTING)
    account.call("f")
    account.lambda_.update_function_code(FunctionName="f", ZipFile=package(index_py="def handler(event, context): return 'new'"))
    assert account.call("f") == "new"


def test_a_new_configuration_runs_in_a_new_process(account: Account) -> None:
    account.function("f", "import os\ndef handler(event, context): return os.environ.get('WORD')")
    assert account.call("f") is None
    account.lambda_.update_function_configuration(FunctionName="f", Environment={"Variables": {"WORD": "yes"}})
    assert account.call("f") == "yes"


def test_deleting_a_function_ends_its_process(account: Account) -> None:
    account.function("f", COUNTING)
    pid = account.call("f")["pid"]
    assert is_running(pid)
    account.lambda_.delete_function(FunctionName="f")
    assert not is_running(pid)


def test_emptying_the_account_ends_all_processes(account: Account) -> None:
    account.function("f", COUNTING)
    pid = account.call("f")["pid"]
    server.reset()
    assert not is_running(pid)


def test_a_function_sees_lambdas_environment_and_nothing_of_ours(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_SQS", "https://sqs.example.com")
    monkeypatch.setenv("SECRET_OF_THE_USER", "secret")
    account.function("f", "import os, sys\ndef handler(event, context): return [dict(os.environ), sys.path]")
    environment, path = account.call("f")
    assert environment["AWS_LAMBDA_FUNCTION_NAME"] == "f"
    assert environment["AWS_REGION"] == "us-west-2"
    assert environment["AWS_ACCESS_KEY_ID"].startswith("ASIA")
    assert not {"AWS_ENDPOINT_URL_SQS", "SECRET_OF_THE_USER", "PYTHONPATH", "VIRTUAL_ENV"} & set(environment)
    assert not [entry for entry in path if "site-packages" in entry or Path(entry).name == "main"]


@pytest.mark.parametrize("module", ["local_aws", "yaml", "pydantic", "aws_cdk", "moto"])
def test_a_function_cannot_import_what_its_package_does_not_bring(account: Account, module: str) -> None:
    account.function("f", f"import {module}\ndef handler(event, context): pass")
    failure = account.call("f")
    assert failure["errorType"] == "Runtime.ImportModuleError"
    assert failure["errorMessage"] == f"Unable to import module 'index': No module named '{module}'"


def test_a_function_has_boto3_and_the_credentials_of_its_role(account: Account) -> None:
    account.function("f", "import boto3\ndef handler(event, context): return boto3.client('sts').get_caller_identity()['Arn']")
    assert account.call("f") == "arn:aws:sts::123456789012:assumed-role/f-role/f"


def test_an_exception_is_the_answer_and_the_process_continues(account: Account) -> None:
    code = """
n = 0
def handler(event, context):
    global n
    n += 1
    if event.get("bad"): raise KeyError("x")
    return n
"""
    account.function("f", code)
    failure = account.call("f", {"bad": True})
    assert (failure["errorType"], failure["errorMessage"]) == ("KeyError", "'x'")
    assert "in handler" in failure["stackTrace"][0]
    assert account.call("f") == 2


ENDINGS: list[tuple[str, dict[str, Any]]] = [
    ("import os\ndef handler(event, context): os._exit(3)", {"errorType": "Runtime.ExitError", "says": "exit status 3"}),
    ("import sys\ndef handler(event, context): sys.exit(4)", {"errorType": "Runtime.ExitError", "says": "exit status 4"}),
    (
        "import os\ndef handler(event, context): os.kill(os.getpid(), 9)",
        {"errorType": "Runtime.ExitError", "says": "signal: killed"},
    ),
    ("import os\nos._exit(7)", {"errorType": "Runtime.ExitError", "says": "exit status 7"}),
    (
        "def handler(event, context):\n    while True: pass",
        {"errorType": "Sandbox.Timedout", "says": "Task timed out after 1.00 seconds"},
    ),
    ("x = 1", {"errorType": "Runtime.HandlerNotFound", "says": "Handler 'handler' missing on module 'index'"}),
    ("def", {"errorType": "Runtime.UserCodeSyntaxError", "says": "Syntax error in module 'index'"}),
    ("1 / 0", {"errorType": "ZeroDivisionError", "says": "division by zero"}),
    ("def handler(event, context): return {1}", {"errorType": "Runtime.MarshalError", "says": "not JSON serializable"}),
]


@pytest.mark.parametrize(("code", "expected"), ENDINGS)
def test_a_function_that_ends_badly_is_answered_as_on_aws(account: Account, code: str, expected: dict[str, Any]) -> None:
    account.function("f", code, Timeout=1)
    failure = account.call("f")
    assert failure["errorType"] == expected["errorType"]
    assert expected["says"] in failure["errorMessage"]


def test_a_function_knows_how_much_time_it_has(account: Account) -> None:
    account.function("f", "def handler(event, context): return context.get_remaining_time_in_millis()", Timeout=7)
    assert 5000 < account.call("f") <= 7000


def test_the_log_goes_to_the_configured_group(account: Account) -> None:
    account.log_group("/mine")
    account.function("f", COUNTING, LoggingConfig={"LogGroup": "/mine"})
    account.call("f", {"word": "hé"})
    messages = account.messages("/mine")
    assert "call 1 hé" in messages
    assert messages[0].startswith("START RequestId: ")
    assert messages[-1].startswith("REPORT RequestId: ")
    assert account.lambda_.get_function(FunctionName="f")["Configuration"]["LoggingConfig"]["LogGroup"] == "/mine"


def test_a_role_that_may_not_write_the_log_loses_it(account: Account) -> None:
    account.log_group("/mine")
    reads = {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}
    account.function("f", COUNTING, reads, LoggingConfig={"LogGroup": "/mine"})
    assert account.call("f")["count"] == 1
    assert account.messages("/mine") == []


def test_a_missing_log_group_comes_back_only_by_a_role_that_may_create_it(account: Account) -> None:
    writes = {"Effect": "Allow", "Action": ["logs:CreateLogStream", "logs:PutLogEvents"], "Resource": "*"}
    account.function("f", COUNTING, writes)
    account.call("f")
    assert account.logs.describe_log_groups()["logGroups"] == []
    account.allow("f-role", EVERYTHING)
    account.call("f")
    assert [group["logGroupName"] for group in account.logs.describe_log_groups()["logGroups"]] == ["/aws/lambda/f"]


def test_a_role_that_lambda_cannot_assume_is_refused(account: Account) -> None:
    role = account.role("nodes", principal="sagemaker.amazonaws.com")
    with pytest.raises(ClientError, match="The role defined for the function cannot be assumed by Lambda"):
        account.function("f", COUNTING, Role=role)


def test_a_runtime_that_is_not_emulated_is_refused(account: Account) -> None:
    with pytest.raises(ClientError, match=r"runtime java21 is not part of the embedded AWS"):
        account.function("f", COUNTING, Runtime="java21")


def test_a_node_function_runs_with_the_sdk_that_its_runtime_brings(account: Account) -> None:
    code = """
const { S3Client, ListBucketsCommand } = require("@aws-sdk/client-s3");
exports.handler = async (event, context) => {
  if (event.bad) throw new TypeError("no");
  console.log("hello");
  const found = await new S3Client({}).send(new ListBucketsCommand({}));
  return { buckets: found.Buckets.map((bucket) => bucket.Name), left: context.getRemainingTimeInMillis() };
};"""
    account.bucket("one-bucket")
    account.function("f", Runtime="nodejs22.x", Code={"ZipFile": package(index_js=code)})
    answer = account.call("f")
    assert answer["buckets"] == ["one-bucket"]
    assert 0 < answer["left"] <= 20_000
    assert account.call("f", {"bad": True})["errorType"] == "TypeError"


def test_programs_and_modules_of_a_layer_are_found(account: Account) -> None:
    layer = {"ZipFile": package(**{"bin/tool_py": "#!/var/lang/bin/python\nimport sys; print('hello', sys.argv[1])"})}
    modules = {"ZipFile": package(**{"python/extra_py": "word = 'imported'"})}
    versions = [
        account.lambda_.publish_layer_version(LayerName=f"layer{number}", Content=content)["LayerVersionArn"]
        for number, content in enumerate((layer, modules))
    ]
    code = """
import subprocess, extra
def handler(event, context):
    return [subprocess.run(["/opt/bin/tool.py", "you"], capture_output=True, text=True).stdout, extra.word]
"""
    account.function("f", code, Layers=versions)
    assert account.call("f") == ["hello you\n", "imported"]


def test_what_ran_is_on_record(account: Account) -> None:
    account.function("f", COUNTING)
    account.call("f", {"word": "x"})
    (ran,) = account.ran("f")
    assert ran["event"] == {"word": "x"}
    assert ran["payload"]["count"] == 1
    assert ran["error"] is None
    assert ran["arn"] == arn("lambda", "function:f")
    assert invocation.recorded() == [ran]
