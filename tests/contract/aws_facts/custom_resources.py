"""Facts of custom resources: the requests that CloudFormation sends, and what it makes of the answers."""

from typing import Any

from tests.contract.aws_facts.fact import Question, fact
from tests.contract.aws_facts.stacks import MADE, Thing, thing

Json = dict[str, Any]
BOTH = ("engine", "soak")
GUIDE = "AWS CloudFormation User Guide: custom resource "
REFERENCE = "AWS CloudFormation template reference: AWS::CloudFormation::CustomResource"
OTHER, NO_ID, FAILED = {"PhysicalResourceId": "other"}, {"PhysicalResourceId": ""}, {"Status": "FAILED"}


def requests(*deployments: Json) -> Question:
    """Return the question which requests are sent while each deployment gives other answers."""

    def asked(judge: Any) -> Any:
        stack = thing(judge)
        for answers in deployments:
            stack.answer(answers)
        return stack.requests()

    return asked


def deletion(answer: Json) -> Question:
    """Return the question how a stack's deletion ends after an answer to its Delete."""

    def asked(judge: Any) -> Any:
        stack = thing(judge)
        stack.answer({"Delete": answer})
        return stack.delete()

    return asked


def reason(answer: Json, **properties: Any) -> Question:
    """Return the question why a creation fails."""

    def asked(judge: Any) -> str:
        stack = Thing(judge)
        stack.answer({"Create": answer}, **properties)
        return stack.reason("Thing", "CREATE_FAILED")[:41]

    return asked


fact(
    "cr-delete-without-id",
    says="a Delete that is answered without an ID fails",
    source="aws/aws-lambda-go issue 77; aws/aws-cdk issue 5796",
    date="2020-01-14",
    expected="DELETE_FAILED",
    judges=BOTH,
)(deletion(NO_ID))
fact(
    "cr-delete-other-id",
    says="a Delete that is answered with another ID than its request's fails",
    source=f"middyjs/middy issue 1602; {GUIDE}response objects",
    date="2026-03-19",
    expected="DELETE_FAILED",
    judges=BOTH,
)(deletion(OTHER))
fact(
    "cr-update-failed-other-id",
    says="the ID of a failed Update becomes the resource's, and is deleted after the rollback",
    source="aws/aws-cdk issues 13527 and 30012",
    date="2024-04-30",
    expected=["Create", "Update made", "Update other", "Delete other"],
    judges=BOTH,
)(requests({"Update": {"PhysicalResourceId": MADE}}, {"Update": FAILED | OTHER}))
fact(
    "cfn-cleanup-attempts",
    says="a Delete that fails in the clean-up is sent three times",
    source="AWS CloudFormation User Guide: update behaviors of stack resources",
    date="documented",
    expected=["Create", "Update made", *["Delete made"] * 3],
    judges=BOTH,
)(requests({"Delete": FAILED}, {"Update": OTHER}))
fact(
    "cr-replacement",
    says="an Update with a new ID is a replacement, and the old ID is deleted at the end",
    source=GUIDE + "request types",
    date="documented",
    expected=["Create", "Update made", "Delete made"],
    judges=BOTH,
)(requests({}, {"Update": OTHER}))
fact(
    "cr-update-failed",
    says="a failed Update is followed by one that goes back, and nothing is deleted",
    source=GUIDE + "request types",
    date="documented",
    expected=["Create", "Update made", "Update made"],
    judges=BOTH,
)(requests({}, {"Update": FAILED}))
fact(
    "cr-create-failed",
    says="a failed Create is followed by a Delete of the ID in its answer",
    source="aws/aws-cdk pull request 5525",
    date="2019-12-23",
    expected=["Create", "Delete other"],
    judges=BOTH,
)(requests({"Create": FAILED | OTHER}))
fact(
    "cr-create-failed-without-id",
    says="a failed Create without an ID reports that, and not its own reason",
    source="remind101/empire issue 918",
    date="2016-07-16",
    expected="Invalid PhysicalResourceId",
)(reason(FAILED | NO_ID))
fact(
    "cr-too-long",
    says="an answer of more than 4,096 bytes is a failure",
    source=GUIDE + "response objects",
    date="documented",
    expected="Response object is too long.",
)(reason({"Data": {"Text": "x" * 4096}}))
fact(
    "cr-service-timeout",
    says="a request without an answer fails after ServiceTimeout",
    source=f"{REFERENCE}, ServiceTimeout",
    date="documented",
    expected="CloudFormation did not receive a response",
)(reason({"silent": True}, ServiceTimeout=30))


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
