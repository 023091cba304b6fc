"""What CDK's own Node.js handlers use of the SDK's clients for Lambda and Step Functions."""

from typing import Any

import pytest

from local_aws import faults
from local_aws.faults import Fault
from tests.local.machinery.account import Account, package

CODE = """
const { Lambda, waitUntilFunctionActiveV2 } = require("@aws-sdk/client-lambda");
const { SFN } = require("@aws-sdk/client-sfn");
exports.handler = async (event) => {
  if (event.machine) return await new SFN().startExecution({ stateMachineArn: event.machine, input: "{}" });
  await waitUntilFunctionActiveV2({ client: new Lambda({}), maxWaitTime: 10 }, { FunctionName: event.function });
  const reply = await new Lambda({}).invoke({ FunctionName: event.function, Payload: JSON.stringify({ n: 1 }) });
  return { error: reply.FunctionError || null, payload: JSON.parse(Buffer.from(reply.Payload).toString()) };
};
"""


@pytest.fixture
def caller(account: Account) -> str:
    """A Node.js function that may do everything."""
    return account.function("caller", Runtime="nodejs22.x", Code={"ZipFile": package(index_js=CODE)})


def refused(operation: str, **more: Any) -> None:
    """Throttle the calls of the caller alone."""
    faults.order(Fault(operation, code="TooManyRequestsException", status=429, caller="caller-role", **more))


def test_a_function_is_found_active_and_invoked_with_throttles_tried_again(account: Account, caller: str) -> None:
    account.function("f", "def handler(event, context): return event")
    refused("lambda:Invoke", times=2)
    assert account.call(caller, {"function": "f"}) == {"error": None, "payload": {"n": 1}}
    assert faults.ordered() == []


def test_the_third_throttle_is_the_callers_and_a_functions_own_error_is_told(account: Account, caller: str) -> None:
    account.function("f", "def handler(event, context): raise ValueError('no')")
    answer = account.call(caller, {"function": "f"})
    assert (answer["error"], answer["payload"]["errorType"]) == ("Unhandled", "ValueError")
    refused("lambda:Invoke", times=3)
    assert account.call(caller, {"function": "f"})["errorType"] == "TooManyRequestsException"


def test_an_execution_is_started(account: Account, caller: str) -> None:
    machine = account.machine("m", {"P": {"Type": "Pass", "End": True}})
    started = account.call(caller, {"machine": machine})
    assert account.ended(started["executionArn"])["status"] == "SUCCEEDED"
