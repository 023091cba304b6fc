"""Facts of custom resources: the requests that CloudFormation sends, and what it makes of the answers."""

from operator import methodcaller
from typing import Any

from tests.contract.aws_facts.engine import Json
from tests.contract.aws_facts.fact import fact
from tests.contract.aws_facts.stacks import MADE, Thing, thing

Source = tuple[str, str]
GUIDE, REQUESTS, DELETION = "AWS CloudFormation User Guide: ", methodcaller("requests"), methodcaller("delete")
TYPES = (GUIDE + "custom resource request types", "documented")
RESPONSES = ("aws/aws-cdk issue 2825", "2019-06-11")
BEHAVIORS = (GUIDE + "update behaviors of stack resources", "documented")
TIMEOUT = ("AWS CloudFormation template reference: AWS::CloudFormation::CustomResource", "documented")
MARKER, LOG_STREAM = ("aws/aws-cdk pull request 5525", "2019-12-23"), ("aws/aws-cdk issues 13527, 30012", "2024-04-30")
ON_DELETE, MIDDY = ("aws/aws-lambda-go issue 77, aws/aws-cdk 5796", "2020-01-14"), ("middyjs/middy issue 1602", "2026-03-19")
EMPIRE = ("remind101/empire issue 918", "2016-07-16")
MEASURED = ("go-to-k/cdkd issue 2274: measured, against AWS's documentation", "2026-08-27")
OTHER, NO_ID, FAILED = {"PhysicalResourceId": "other"}, {"PhysicalResourceId": ""}, {"Status": "FAILED"}
REPLACED, UNDONE = ["Create", "Update made", "Delete made"], ["Create", "Update made", "Update made"]
OTHER_IDS, ATTEMPTS = ["Create", "Update made", "Update other", "Delete other"], [*REPLACED, "Delete made", "Delete made"]
SAME, LONG = {"Update": {"PhysicalResourceId": MADE}}, {"Data": {"Text": "x" * 4096}}
INVALID, NO_ANSWER = "Invalid PhysicalResourceId", "CloudFormation did not receive a response"


def custom(id: str, says: str, source: Source, expected: Any, *answers: Json, ask: Any = REQUESTS) -> None:
    """Register what a judge returns after deployments, each with other answers of the resource's function."""

    def question(judge: Any) -> Any:
        stack = thing(judge)
        for each in answers:
            stack.answer(each)
        return ask(stack)

    fact(id, says, *source, expected, ("engine", "soak"))(question)


def failure(id: str, says: str, source: Source, why: str, answer: Json, **properties: Any) -> None:
    """Register how the reason of a failed creation begins."""

    def question(judge: Any) -> str:
        stack = Thing(judge)
        stack.answer({"Create": answer}, **properties)
        return stack.reason("Thing", "CREATE_FAILED")[: len(why)]

    fact(id, says, *source, why)(question)


custom("cr-replacement", "a new ID is a replacement", TYPES, REPLACED, {}, {"Update": OTHER})
custom("cr-update-failed", "a failed Update is undone by another", TYPES, UNDONE, {}, {"Update": FAILED})
custom("cr-create-failed", "a failed Create is undone", MARKER, ["Create", "Delete other"], {"Create": FAILED | OTHER})
custom("cfn-cleanup-attempts", "a clean-up is tried three times", BEHAVIORS, ATTEMPTS, {"Delete": FAILED}, {"Update": OTHER})
custom("cr-update-failed-other-id", "a failed Update's ID counts", LOG_STREAM, OTHER_IDS, SAME, {"Update": FAILED | OTHER})
custom("cr-delete-without-id", "a Delete's answer has an ID", ON_DELETE, "DELETE_FAILED", {"Delete": NO_ID}, ask=DELETION)
custom("cr-delete-other-id", "a Delete's answer has its request's ID", MIDDY, "DELETE_FAILED", {"Delete": OTHER}, ask=DELETION)
failure("cr-create-failed-without-id", "a failed Create without an ID reports that", EMPIRE, INVALID, FAILED | NO_ID)
failure("cr-too-long", "an answer has at most 4,096 bytes", RESPONSES, "Response object is too long.", LONG)
failure("cr-service-timeout", "a request ends after ServiceTimeout", TIMEOUT, NO_ANSWER, {"silent": True}, ServiceTimeout=30)


@fact("cr-no-echo", "NoEcho in an answer hides nothing in outputs", *MEASURED, {"Secret": "word"})
def no_echo(judge: Any) -> Any:
    stack, outputs = Thing(judge), {"Secret": {"Value": {"Fn::GetAtt": ["Thing", "Secret"]}}}
    answers = {"Create": {"NoEcho": True, "Data": {"Secret": "word"}}}
    stack.deploy({"Thing": stack.custom(answers)}, template={"Outputs": outputs})
    return stack.outputs()
