"""Facts of stacks, change sets and templates: what is refused, what a failure leaves, and what a deletion keeps."""

from typing import Any

from tests.contract.aws_facts.engine import Engine, Json
from tests.contract.aws_facts.fact import documented, fact
from tests.contract.aws_facts.stacks import Stack
from tests.contract.aws_facts.storage import bucket

REFUSED, MADE, DOCUMENTED = "ValidationError", "CREATE_COMPLETE", "documented"
GUIDE, RECORDING = "AWS CloudFormation User Guide: ", "LocalStack's recording "
STACKS, SETS, UPDATES = (f"{RECORDING}api/test_{file}.py" for file in ("stacks", "changesets", "update_stack"))
CONDITIONS, MAPPINGS, REFERENCES = (f"{RECORDING}engine/test_{file}.py" for file in ("conditions", "mappings", "references"))
EARLY = "AWS CloudFormation User Guide: validate stack deployments; aws/aws-cdk-cli "
ATTRIBUTES, ENGINE = RECORDING + "engine/test_attributes.py", RECORDING + "test_template_engine.py"
OUTPUTS, IMPORTS = RECORDING + "api/test_validations.py", RECORDING + "test_change_set_exports_imports.py"


def valued(value: Any, **attributes: Any) -> Json:
    """Return a parameter of Systems Manager with a value, which costs nothing."""
    return {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": value}, **attributes}


def template(value: Any = "x", **sections: Any) -> Json:
    """Return a template with a parameter A of Systems Manager, and one that a false condition skips."""
    resources = {"A": valued(value), "Skipped": valued("x", Condition="Never")}
    return {"Resources": resources, "Conditions": {"Never": {"Fn::Equals": ["a", "b"]}}, **sections}


def plan(name: str, says: str, source: str, date: str, template: Json, answer: str = REFUSED) -> None:  # noqa: PLR0917  a row
    """Register a fact about the change set of a new stack with a template: its status, or the code of a refusal."""
    fact(f"cfn-{name}", f"a change set for {says}", source, date, answer)(lambda judge: Stack(judge).plan({}, template=template))


ONE, TWO, SKIPPED, AFTER_NONE = {"A": valued("x")}, {"A": valued("y")}, {"Ref": "Skipped"}, {"A": valued("x", DependsOn="B")}
FIND, MAP, DEEP = {"Fn::FindInMap": ["Map", "a", "none"]}, {"Map": {"a": {"b": "c"}}}, {"Map": {"a": {"b": {"c": "d"}}}}
NO_VALUE = {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String"}}
EXISTS = "AWS::EarlyValidation::ResourceExistenceCheck"
UNDONE, NO_ATTRIBUTE = ("UPDATE_ROLLBACK_COMPLETE", "UPDATE_COMPLETE", "DELETE_COMPLETE"), {"Fn::GetAtt": ["A", "Nothing"]}
plan("template-ref", "a Ref to nothing", REFERENCES, "2024-05-28", template({"Ref": "B"}))
plan("template-depends-on", "a DependsOn of nothing", REFERENCES, "2023-07-10", template(Resources=AFTER_NONE))
plan("template-conditional-ref", "a Ref to a skipped resource", CONDITIONS, "2025-09-30", template(SKIPPED))
plan("template-conditional-output", "an output of one", CONDITIONS, "2023-06-26", template(Outputs={"O": {"Value": SKIPPED}}))
plan("template-branch", "an unused Ref to one", GUIDE + "Fn::If", DOCUMENTED, template({"Fn::If": ["Never", SKIPPED, "x"]}), MADE)
plan("template-mapping-key", "a missing key of a mapping", MAPPINGS, "2025-08-07", template(FIND, Mappings=MAP))
plan("template-mapping-depth", "a mapping of three levels", MAPPINGS, "2023-06-12", template(Mappings=DEEP))
plan("template-null-output", "a null output", OUTPUTS, "2024-05-31", template(Outputs={"O": {"Value": None}}))
plan("cs-missing-parameter", "a parameter without value", STACKS, "2025-07-31", template(Parameters={"P": {"Type": "String"}}))
plan("cs-import-missing", "a missing export", IMPORTS, "2025-08-05", template({"Fn::ImportValue": "hyperpod-cdk-fact"}), MADE)
plan("template-size", "more than 51,200 bytes", ENGINE, "2023-01-30", template(Metadata={"Long": "x" * 51_200}))
plan("template-large", "almost 51,200 bytes", GUIDE + "quotas", DOCUMENTED, template(Metadata={"Long": "x" * 50_000}), MADE)
plan("required-property", "a missing property", EARLY + "PR 1463", "2026-04-30", template(Resources={"A": NO_VALUE}), "FAILED")
fact("cfn-update-bad-role", "an update refuses a role that CloudFormation may not assume", UPDATES, "2022-11-21", REFUSED)(
    lambda judge: (stack := Stack(judge)).deploy(ONE) and stack.deploy(TWO, RoleARN=judge.role(principal="ec2.amazonaws.com"))
)
fact("cfn-cs-no-changes", "a change set without changes fails, an update is refused", SETS, "2025-09-09", ("FAILED", REFUSED))(
    lambda judge: (stack := Stack(judge)).deploy(ONE) and (stack.plan(ONE), stack.deploy(ONE))
)
fact("cfn-create-in-review", "CreateStack takes over a stack in review", SETS, "2023-11-22", (MADE, "OBSOLETE"))(
    lambda judge: (stack := Stack(judge)).plan(ONE) and (stack.deploy(ONE), stack.planned()["ExecutionStatus"])
)
fact("cfn-bad-attribute", "an output of a missing attribute makes nothing", ATTRIBUTES, "2023-08-01", ("ROLLBACK_COMPLETE", []))(
    lambda judge: ((stack := Stack(judge)).deploy(ONE, template={"Outputs": {"O": {"Value": NO_ATTRIBUTE}}}), stack.story("A"))
)
documented("cfn-bad-name", "a stack's name starts with a letter", "AWS CloudFormation API: CreateChangeSet", expected=REFUSED)(
    lambda judge: Stack(judge).plan(ONE, StackName="1-fact")
)


@fact("cfn-names-exist", "a change set for a name that exists fails", EARLY + "issue 1000", "2025-12-17", [True] * 4)
def names_exist(judge: Engine) -> list[bool]:
    function, role = judge.function().rpartition(":")[2], judge.service_role
    named: dict[str, Json] = {
        "IAM::Role": {"RoleName": role.split("/")[1], "AssumeRolePolicyDocument": {"Statement": []}},
        "Lambda::Function": {"FunctionName": function, "Role": role, "Code": {"ZipFile": "pass"}, "PackageType": "Zip"},
        "Logs::LogGroup": {"LogGroupName": f"/aws/lambda/{function}"},
        "S3::Bucket": {"BucketName": bucket(judge)},
    }
    stacks = [(Stack(judge), {"A": {"Type": f"AWS::{name}", "Properties": given}}) for name, given in named.items()]
    return [stack.plan(each) == "FAILED" and EXISTS in stack.planned()["StatusReason"] for stack, each in stacks]


@fact("cfn-no-echo", "a change set hides NoEcho parameters only", STACKS, "2025-08-15", {"Secret": "****", "Open": "default"})
def no_echo(judge: Engine) -> Any:
    stack, given = Stack(judge), [{"ParameterKey": "Secret", "ParameterValue": "word"}]
    parameters = {"Secret": {"Type": "String", "NoEcho": True}, "Open": {"Type": "String", "Default": "default"}}
    stack.plan(ONE, template={"Parameters": parameters}, Parameters=given)
    return {one["ParameterKey"]: one["ParameterValue"] for one in stack.planned()["Parameters"]}


@documented("cfn-rollback-update", "a failed update is undone", GUIDE + "stack failure options", expected=UNDONE)
def rollback_update(judge: Engine) -> Any:
    stack = Stack(judge)
    stack.deploy(ONE)
    last = valued("x" * 4097, DependsOn=["A", "B"])  # too long
    return stack.deploy({"A": valued("y"), "B": valued("x"), "C": last}), stack.story("A")[-1], stack.story("B")[-1]


@documented("cfn-retain", "Retain keeps a resource", GUIDE + "DeletionPolicy", expected=("DELETE_COMPLETE", "DELETE_SKIPPED"))
def retain(judge: Engine) -> Any:
    stack, name = Stack(judge), judge.name()
    judge.later(judge.client("logs").delete_log_group, logGroupName=name)
    stack.deploy({"A": {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": name}, "DeletionPolicy": "Retain"}})
    return stack.delete(), stack.story("A")[-1]
