"""Facts of custom resources: the requests that CloudFormation sends, and what it makes of the answers."""

from typing import Any

from tests.contract.aws_facts.fact import fact
from tests.contract.aws_facts.stacks import MADE, Thing, thing

BOTH = ("engine", "soak")
RESPONSES = "AWS CloudFormation User Guide: custom resource response objects"
REQUESTS = "AWS CloudFormation User Guide: custom resource request types"
OTHER = {"PhysicalResourceId": "other"}
NO_ID = {"PhysicalResourceId": ""}
FAILED = {"Status": "FAILED"}


@fact(
    "cr-delete-without-id",
    says="a Delete that is answered without an ID fails",
    source="aws/aws-lambda-go issue 77; aws/aws-cdk issue 5796",
    date="2020-01-14",
    expected="DELETE_FAILED",
    judges=BOTH,
)
def delete_without_id(judge: Any) -> str:
    stack = thing(judge)
    stack.answer({"Delete": NO_ID})
    return str(stack.delete())


@fact(
    "cr-delete-other-id",
    says="a Delete that is answered with another ID than its request's fails",
    source=f"middyjs/middy issue 1602; {RESPONSES}",
    date="2026-03-19",
    expected="DELETE_FAILED",
    judges=BOTH,
)
def delete_other_id(judge: Any) -> str:
    stack = thing(judge)
    stack.answer({"Delete": OTHER})
    return str(stack.delete())


@fact(
    "cr-update-failed-other-id",
    says="the ID of a failed Update becomes the resource's, and is deleted after the rollback",
    source="aws/aws-cdk issues 13527 and 30012",
    date="2024-04-30",
    expected=["Create", "Update made", "Update other", "Delete other"],
    judges=BOTH,
)
def update_failed_other_id(judge: Any) -> Any:
    stack = thing(judge)
    stack.answer({"Update": {"PhysicalResourceId": MADE}})
    stack.answer({"Update": FAILED | OTHER})
    return stack.requests()


@fact(
    "cfn-cleanup-attempts",
    says="a Delete that fails in the clean-up is sent three times",
    source="AWS CloudFormation User Guide: update behaviors of stack resources",
    date="documented",
    expected=["Create", "Update made", *["Delete made"] * 3],
    judges=BOTH,
)
def cleanup_attempts(judge: Any) -> Any:
    stack = thing(judge)
    stack.answer({"Delete": FAILED})
    stack.answer({"Update": OTHER})
    return stack.requests()


@fact(
    "cr-replacement",
    says="an Update with a new ID is a replacement, and the old ID is deleted at the end",
    source=REQUESTS,
    date="documented",
    expected=["Create", "Update made", "Delete made"],
    judges=BOTH,
)
def replacement(judge: Any) -> Any:
    stack = thing(judge)
    stack.answer({})
    stack.answer({"Update": OTHER})
    return stack.requests()


@fact(
    "cr-update-failed",
    says="a failed Update is followed by one that goes back, and nothing is deleted",
    source=REQUESTS,
    date="documented",
    expected=["Create", "Update made", "Update made"],
    judges=BOTH,
)
def update_failed(judge: Any) -> Any:
    stack = thing(judge)
    stack.answer({})
    stack.answer({"Update": FAILED})
    return stack.requests()


@fact(
    "cr-create-failed",
    says="a failed Create is followed by a Delete of the ID in its answer",
    source="aws/aws-cdk pull request 5525",
    date="2019-12-23",
    expected=["Create", "Delete other"],
    judges=BOTH,
)
def create_failed(judge: Any) -> Any:
    stack = thing(judge)
    stack.answer({"Create": FAILED | OTHER})
    return stack.requests()


@fact(
    "cr-create-failed-without-id",
    says="a failed Create without an ID reports that, and not its own reason",
    source="remind101/empire issue 918",
    date="2016-07-16",
    expected="Invalid PhysicalResourceId",
)
def create_failed_without_id(judge: Any) -> str:
    stack = Thing(judge)
    stack.answer({"Create": FAILED | NO_ID})
    return stack.reason("Thing", "CREATE_FAILED")


@fact(
    "cr-too-long",
    says="an answer of more than 4,096 bytes is a failure",
    source=RESPONSES,
    date="documented",
    expected="Response object is too long.",
)
def too_long(judge: Any) -> str:
    stack = Thing(judge)
    stack.answer({"Create": {"Data": {"Text": "x" * 4096}}})
    return stack.reason("Thing", "CREATE_FAILED")


@fact(
    "cr-service-timeout",
    says="a request without an answer fails after ServiceTimeout, and a Delete with a generated ID follows",
    source="AWS CloudFormation template reference: AWS::CloudFormation::CustomResource, ServiceTimeout",
    date="documented",
    expected=("CloudFormation did not receive a response", "ROLLBACK_COMPLETE"),
)
def service_timeout(judge: Any) -> tuple[str, str]:
    stack = Thing(judge)
    status = stack.answer({"Create": {"silent": True}}, ServiceTimeout=30)
    return stack.reason("Thing", "CREATE_FAILED")[:41], status


@fact(
    "cr-service-token",
    says="the ServiceToken of a resource cannot change",
    source="AWS CloudFormation template reference: AWS::CloudFormation::CustomResource, ServiceToken",
    date="documented",
    expected="Modifying service token is not allowed.",
)
def service_token(judge: Any) -> str:
    stack = Thing(judge)
    stack.answer({})
    stack.answer({}, ServiceToken=f"{stack.custom({})['Properties']['ServiceToken']}-2")
    return stack.reason("Thing", "UPDATE_FAILED")


@fact(
    "cr-no-echo",
    says="NoEcho in an answer hides nothing in outputs and other resources, although the User Guide says so",
    source="go-to-k/cdkd issue 2274, measured on AWS",
    date="2026-08-27",
    expected={"Secret": "word"},
)
def no_echo(judge: Any) -> Any:
    stack = Thing(judge)
    answers = {"Create": {"NoEcho": True, "Data": {"Secret": "word"}}}
    outputs = {"Secret": {"Value": {"Fn::GetAtt": ["Thing", "Secret"]}}}
    stack.deploy({"Thing": stack.custom(answers)}, template={"Outputs": outputs})
    return stack.outputs()
