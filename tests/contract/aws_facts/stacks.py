"""Facts of CloudFormation: what is refused, what a failure leaves, what a deletion keeps, and requests to custom resources."""

import json
from collections.abc import Callable
from functools import cache
from operator import methodcaller
from typing import Any

from tests.contract.aws_facts.engine import Engine, Json
from tests.contract.aws_facts.fact import BOTH, Fact
from tests.simulator.machinery.account import outcome, refusal
from tests.simulator.machinery.stacks import Stacks

REFUSED, MADE, DELETED = "ValidationError", "CREATE_COMPLETE", "DELETE_COMPLETE"
GUIDE, RECORDING = "AWS CloudFormation User Guide: ", "LocalStack's recording "
STACKS, SETS, UPDATES = (f"{RECORDING}api/test_{file}.py" for file in ("stacks", "changesets", "update_stack"))
CONDITIONS, MAPPINGS, REFERENCES = (f"{RECORDING}engine/test_{file}.py" for file in ("conditions", "mappings", "references"))
EARLY = "AWS CloudFormation User Guide: validate stack deployments; aws/aws-cdk-cli "
ATTRIBUTES, ENGINE = (RECORDING + "engine/test_attributes.py", "2023-08-01"), RECORDING + "test_template_engine.py"
OUTPUTS, IMPORTS = RECORDING + "api/test_validations.py", RECORDING + "test_change_set_exports_imports.py"


class Stack(Stacks):
    """A stack of an account, which is deleted at the end."""

    def __init__(self, judge: Engine) -> None:
        self.judge, self.name, self.cloudformation, self.until = judge, judge.name(), judge.cloudformation, judge.until
        judge.later(self._remove)

    def try_deploy(self, resources: Json, **more: Any) -> str:
        """Create or update the stack and return its status, or the code of a refusal."""
        return str(outcome(self.deploy, resources=resources, **more))

    def plan(self, resources: Json, **more: Any) -> str:
        """Create a change set for the stack and return its status, or the code of a refusal."""
        return str(outcome(lambda: self.change_set(resources, **more)["Status"]))

    def planned(self, member: str) -> Any:
        """Return a member of the change set."""
        return self.cloudformation.describe_change_set(StackName=self.name, ChangeSetName="plan")[member]

    def story(self, of: str, name: str = "") -> list[str]:
        """Return the statuses of a resource, from the oldest."""
        return [status for resource, status in self.events(name) if resource == of]

    def _remove(self) -> None:
        if refusal(self.stack) == "accepted" and self.delete() == "DELETE_FAILED":
            self.delete(DeletionMode="FORCE_DELETE_STACK")


def valued(value: Any, **attributes: Any) -> Json:
    """Return a parameter of Systems Manager with a value, which costs nothing."""
    return {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": value}, **attributes}


def plan(name: str, says: str, source: Any, value: Any = "x", answer: str = REFUSED, **sections: Any) -> None:
    """Register the status of a new stack's change set, or its refusal: a parameter with a value, and one that is skipped."""
    resources, conditions = {"A": valued(value), "Skipped": valued("x", Condition="Never")}, {"Never": {"Fn::Equals": ["a", "b"]}}
    template = {"Resources": resources, "Conditions": conditions, **sections}
    Fact(f"cfn-{name}", f"a change set for {says}", source, answer)(lambda judge: Stack(judge).plan({}, template=template))


ONE, TWO, SKIPPED, AFTER_NONE = {"A": valued("x")}, {"A": valued("y")}, {"Ref": "Skipped"}, {"A": valued("x", DependsOn="B")}
FIND, MAP, DEEP = {"Fn::FindInMap": ["Map", "a", "none"]}, {"Map": {"a": {"b": "c"}}}, {"Map": {"a": {"b": {"c": "d"}}}}
NO_VALUE, NULL = {"A": {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String"}}}, {"O": {"Value": None}}
UNDONE, NO_ATTRIBUTE = ("UPDATE_ROLLBACK_COMPLETE", "UPDATE_COMPLETE", DELETED), {"Fn::GetAtt": ["A", "Nothing"]}
EXISTS, EC2 = "AWS::EarlyValidation::ResourceExistenceCheck", "ec2.amazonaws.com"
plan("template-ref", "a Ref to nothing", (REFERENCES, "2024-05-28"), {"Ref": "B"})
plan("template-depends-on", "a DependsOn of nothing", (REFERENCES, "2023-07-10"), Resources=AFTER_NONE)
plan("template-conditional-ref", "a Ref to a skipped resource", (CONDITIONS, "2025-09-30"), SKIPPED)
plan("template-conditional-output", "an output of one", (CONDITIONS, "2023-06-26"), Outputs={"O": {"Value": SKIPPED}})
plan("template-branch", "an unused Ref to one", GUIDE + "Fn::If", {"Fn::If": ["Never", SKIPPED, "x"]}, MADE)
plan("template-mapping-key", "a missing key of a mapping", (MAPPINGS, "2025-08-07"), FIND, Mappings=MAP)
plan("template-mapping-depth", "a mapping of three levels", (MAPPINGS, "2023-06-12"), Mappings=DEEP)
plan("template-null-output", "a null output", (OUTPUTS, "2024-05-31"), Outputs=NULL)
plan("cs-missing-parameter", "a parameter without value", (STACKS, "2025-07-31"), Parameters={"P": {"Type": "String"}})
plan("cs-import-missing", "a missing export", (IMPORTS, "2025-08-05"), {"Fn::ImportValue": "hyperpod-cdk-fact"}, MADE)
plan("template-size", "more than 51,200 bytes", (ENGINE, "2023-01-30"), Metadata={"Long": "x" * 51_200})
plan("template-large", "almost 51,200 bytes", GUIDE + "quotas", answer=MADE, Metadata={"Long": "x" * 50_000})
plan("required-property", "a missing property", (EARLY + "PR 1463", "2026-04-30"), answer="FAILED", Resources=NO_VALUE)
Fact("cfn-update-bad-role", "an update refuses a role that CloudFormation may not assume", (UPDATES, "2022-11-21"), REFUSED)(
    lambda judge: (stack := Stack(judge)).deploy(ONE) and stack.try_deploy(TWO, RoleARN=judge.role(judge.name(), principal=EC2))
)
Fact("cfn-cs-no-changes", "a change set without changes fails, an update is refused", (SETS, "2025-09-09"), ("FAILED", REFUSED))(
    lambda judge: (stack := Stack(judge)).deploy(ONE) and (stack.plan(ONE), stack.try_deploy(ONE))
)
Fact("cfn-create-in-review", "CreateStack takes over a stack in review", (SETS, "2023-11-22"), (MADE, "OBSOLETE"))(
    lambda judge: (stack := Stack(judge)).plan(ONE) and (stack.deploy(ONE), stack.planned("ExecutionStatus"))
)
Fact("cfn-bad-attribute", "an output of a missing attribute makes nothing", ATTRIBUTES, ("ROLLBACK_COMPLETE", []))(
    lambda judge: ((stack := Stack(judge)).deploy(ONE, template={"Outputs": {"O": {"Value": NO_ATTRIBUTE}}}), stack.story("A"))
)
Fact("cfn-bad-name", "a stack's name starts with a letter", "AWS CloudFormation API: CreateChangeSet", REFUSED)(
    lambda judge: Stack(judge).plan(ONE, name="1-fact")
)


@Fact("cfn-names-exist", "a change set for a name that exists fails", (EARLY + "issue 1000", "2025-12-17"), [True] * 4)
def names_exist(judge: Engine) -> list[bool]:
    function, role = judge.active_function().rpartition(":")[2], judge.service_role
    named: dict[str, Json] = {
        "IAM::Role": {"RoleName": role.split("/")[1], "AssumeRolePolicyDocument": {"Statement": []}},
        "Lambda::Function": {"FunctionName": function, "Role": role, "Code": {"ZipFile": "pass"}, "PackageType": "Zip"},
        "Logs::LogGroup": {"LogGroupName": f"/aws/lambda/{function}"},
        "S3::Bucket": {"BucketName": judge.bucket(judge.name())},
    }
    stacks = [(Stack(judge), {"A": {"Type": f"AWS::{name}", "Properties": given}}) for name, given in named.items()]
    return [stack.plan(each) == "FAILED" and EXISTS in stack.planned("StatusReason") for stack, each in stacks]


@Fact("cfn-no-echo", "a change set hides NoEcho parameters only", (STACKS, "2025-08-15"), {"Secret": "****", "Open": "default"})
def no_echo(judge: Engine) -> Any:
    stack, given = Stack(judge), [{"ParameterKey": "Secret", "ParameterValue": "word"}]
    parameters = {"Secret": {"Type": "String", "NoEcho": True}, "Open": {"Type": "String", "Default": "default"}}
    stack.plan(ONE, template={"Parameters": parameters}, Parameters=given)
    return {one["ParameterKey"]: one["ParameterValue"] for one in stack.planned("Parameters")}


@Fact("cfn-rollback-update", "a failed update is undone", GUIDE + "stack failure options", UNDONE)
def rollback_update(judge: Engine) -> Any:
    (stack := Stack(judge)).deploy(ONE)
    last = valued("x" * 4097, DependsOn=["A", "B"])  # too long
    return stack.deploy({"A": valued("y"), "B": valued("x"), "C": last}), stack.story("A")[-1], stack.story("B")[-1]


@Fact("cfn-retain", "Retain keeps a resource", GUIDE + "DeletionPolicy", (DELETED, "DELETE_SKIPPED"))
def retain(judge: Engine) -> Any:
    stack, name = Stack(judge), judge.name()
    judge.later(judge.logs.delete_log_group, logGroupName=name)
    stack.deploy({"A": {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": name}, "DeletionPolicy": "Retain"}})
    stack_id = stack.stack()["StackId"]
    return stack.delete(), stack.story("A", stack_id)[-1]


FUNCTION = """
import boto3, json, urllib.request

def handler(event, context):
    request = " ".join(event[key] for key in ("RequestType", "PhysicalResourceId") if key in event)
    boto3.client("ssm").put_parameter(Name="/" + event["StackId"].split("/")[1], Value=request, Type="String", Overwrite=True)
    answer = json.loads(event["ResourceProperties"]["Answers"]).get(event["RequestType"], {})
    if "silent" not in answer:
        given = {"Status": "SUCCESS", "Reason": "as told", "PhysicalResourceId": "made", **event, **answer}
        request = urllib.request.Request(event["ResponseURL"], json.dumps(given).encode(), {"Content-Type": ""}, method="PUT")
        urllib.request.urlopen(request)
"""
DELETION, LEFT, TOO_LONG = methodcaller("delete"), "DELETE_FAILED", "Response object is too long."
TYPES, BEHAVIORS = GUIDE + "custom resource request types", GUIDE + "update behaviors of stack resources"
RESPONSES, EMPIRE = ("aws/aws-cdk issue 2825", "2019-06-11"), ("remind101/empire issue 918", "2016-07-16")
TIMEOUT = "AWS CloudFormation template reference: AWS::CloudFormation::CustomResource"
MARKER, LOG_STREAM = ("aws/aws-cdk pull request 5525", "2019-12-23"), ("aws/aws-cdk issues 13527, 30012", "2024-04-30")
ON_DELETE, MIDDY = ("aws/aws-lambda-go issue 77, aws/aws-cdk 5796", "2020-01-14"), ("middyjs/middy issue 1602", "2026-03-19")
MEASURED = ("go-to-k/cdkd issue 2274: measured, against AWS's documentation", "2026-08-27")
OTHER, NO_ID, FAILED = {"PhysicalResourceId": "other"}, {"PhysicalResourceId": ""}, {"Status": "FAILED"}
REPLACED, SENT_AGAIN = ["Create", "Update made", "Delete made"], ["Create", "Update made", "Update made"]
OTHER_IDS, ATTEMPTS = ["Create", "Update made", "Update other", "Delete other"], [*REPLACED, "Delete made", "Delete made"]
SAME, LONG = {"Update": {"PhysicalResourceId": "made"}}, {"Data": {"Text": "x" * 4096}}
NO, SILENT = "Invalid PhysicalResourceId", "CloudFormation did not receive a response"


_function = cache(Engine.active_function)


class CustomResource(Stack):
    """A stack with a custom resource; each deployment gives the answers of its function, by the kind of request."""

    def answer(self, answers: Json, template: Json | None = None, **properties: Any) -> str:
        """Deploy the resource with these answers."""
        self.judge.later(self.judge.ssm.delete_parameter, Name=f"/{self.name}")
        given = {"ServiceToken": _function(self.judge, FUNCTION), "Answers": json.dumps(answers), **properties}
        return self.deploy({"Thing": {"Type": "Custom::Thing", "Properties": given}}, template=template)

    def requests(self) -> list[str]:
        """Return the requests that the function received so far: the kind, and the ID of an Update and a Delete."""
        return [each["Value"] for each in self.judge.ssm.get_parameter_history(Name=f"/{self.name}")["Parameters"]]


def asked(judge: Any, *answers: Json, ask: Callable[[Any], Any] = methodcaller("requests")) -> Any:
    """Ask a stack after deployments, each with other answers of the resource's function."""
    stack = CustomResource(judge) if isinstance(judge, Engine) else judge
    for each in answers:
        stack.answer(each)
    return ask(stack)


def failure(judge: Engine, begin: str, answer: Json, **properties: Any) -> str:
    """Return as much of the reason of a failed creation."""
    (stack := CustomResource(judge)).answer({"Create": answer}, **properties)
    return stack.reason("Thing", "CREATE_FAILED")[: len(begin)]


Fact("cr-replacement", "a new ID is a replacement", TYPES, REPLACED, BOTH)(asked, {}, {"Update": OTHER})
Fact("cr-update-failed", "a failed Update is undone by another", TYPES, SENT_AGAIN, BOTH)(asked, {}, {"Update": FAILED})
Fact("cr-create-failed", "a failed Create is undone", MARKER, ["Create", "Delete other"], BOTH)(asked, {"Create": FAILED | OTHER})
Fact("cfn-cleanup-attempts", "a clean-up is tried three times", BEHAVIORS, ATTEMPTS, BOTH)(
    asked, {"Delete": FAILED}, {"Update": OTHER}
)
Fact("cr-update-failed-other-id", "a failed Update's ID counts", LOG_STREAM, OTHER_IDS, BOTH)(
    asked, SAME, {"Update": FAILED | OTHER}
)
Fact("cr-delete-without-id", "a Delete's answer has an ID", ON_DELETE, LEFT, BOTH)(asked, {"Delete": NO_ID}, ask=DELETION)
Fact("cr-delete-other-id", "a Delete's answer has its request's ID", MIDDY, LEFT, BOTH)(asked, {"Delete": OTHER}, ask=DELETION)
Fact("cr-create-failed-without-id", "a failed Create without an ID reports that", EMPIRE, NO)(failure, NO, FAILED | NO_ID)
Fact("cr-too-long", "an answer has at most 4,096 bytes", RESPONSES, TOO_LONG)(failure, TOO_LONG, LONG)
Fact("cr-service-timeout", "a request ends after ServiceTimeout", TIMEOUT, SILENT)(
    failure, SILENT, {"silent": 1}, ServiceTimeout=30
)


@Fact("cr-no-echo", "NoEcho in an answer hides nothing in outputs", MEASURED, {"Secret": "word"})
def answer_no_echo(judge: Engine) -> Any:
    stack, outputs = CustomResource(judge), {"Secret": {"Value": {"Fn::GetAtt": ["Thing", "Secret"]}}}
    stack.answer({"Create": {"NoEcho": True, "Data": {"Secret": "word"}}}, {"Outputs": outputs})
    return stack.outputs()
