"""Facts of stacks and change sets: what is refused, what a failure leaves, and what a deletion keeps."""

from typing import Any

from tests.contract.aws_facts.fact import fact, refusal
from tests.contract.aws_facts.stacks import Stack
from tests.contract.aws_facts.templates import API, PARAMETER, valued

Json = dict[str, Any]
GUIDE = "AWS CloudFormation User Guide: "
BROKEN: Json = {
    "Type": "AWS::IAM::Policy",
    "Properties": {"PolicyName": "p", "Roles": ["hyperpod-cdk-nobody"], "PolicyDocument": {}},
}


@fact(
    "cfn-update-bad-role",
    says="a role that CloudFormation may not assume is refused",
    source=API + "update_stack.py",
    date="2022-11-21",
    expected="ValidationError",
)
def update_bad_role(judge: Any) -> str:
    return Stack(judge).deploy({"A": PARAMETER}, RoleARN=judge.role(principal="ec2.amazonaws.com"))


@fact(
    "cfn-no-echo",
    says="a change set hides a NoEcho parameter, and shows the defaults of others",
    source=API + "stacks.py",
    date="2025-08-15",
    expected={"Secret": "****", "Open": "default"},
)
def no_echo(judge: Any) -> Any:
    stack, text = Stack(judge), {"Type": "String"}
    given = [{"ParameterKey": "Secret", "ParameterValue": "word"}]
    parameters = {"Secret": {**text, "NoEcho": True}, "Open": {**text, "Default": "default"}}
    stack.plan({"A": PARAMETER}, template={"Parameters": parameters}, Parameters=given)
    return {one["ParameterKey"]: one["ParameterValue"] for one in stack.planned()["Parameters"]}


@fact(
    "cfn-create-in-review",
    says="CreateStack takes over a stack in review, whose change sets become obsolete",
    source=API + "changesets.py",
    date="2023-11-22",
    expected=("CREATE_COMPLETE", "OBSOLETE"),
)
def create_in_review(judge: Any) -> Any:
    stack = Stack(judge)
    stack.plan({"A": PARAMETER})
    return stack.deploy({"A": PARAMETER}), stack.planned()["ExecutionStatus"]


@fact(
    "cfn-cs-of-deleted",
    says="a change set for the ID of a deleted stack is refused",
    source=API + "changesets.py",
    date="2025-10-10",
    expected="ValidationError",
)
def change_set_of_deleted(judge: Any) -> str:
    stack = Stack(judge)
    stack.deploy({"A": PARAMETER})
    stack.delete()
    return stack.plan({"A": PARAMETER}, StackName=stack.id, ChangeSetType="CREATE")


@fact(
    "cfn-cs-unknown-stack",
    says="a change set of an unknown stack is refused, also when it is to be deleted",
    source=API + "changesets.py",
    date="2025-07-21",
    expected=["ValidationError", "ValidationError"],
)
def change_set_of_unknown(judge: Any) -> Any:
    client, given = judge.client("cloudformation"), {"StackName": judge.name(), "ChangeSetName": "plan"}
    return [refusal(call, **given) for call in (client.describe_change_set, client.delete_change_set)]


@fact(
    "cfn-cs-no-changes",
    says="a change set without changes fails, and UpdateStack without changes is refused",
    source=API + "changesets.py",
    date="2022-08-10",
    expected=("FAILED", "ValidationError"),
)
def no_changes(judge: Any) -> Any:
    stack = Stack(judge)
    stack.deploy({"A": PARAMETER})
    return stack.plan({"A": PARAMETER}), stack.deploy({"A": PARAMETER})


@fact(
    "cfn-required-property",
    says="a missing required property fails the resource, not the request",
    source="LocalStack's recording test_template_engine.py",
    date="2023-06-12",
    expected="ROLLBACK_COMPLETE",
)
def required_property(judge: Any) -> str:
    return Stack(judge).deploy({"A": {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String"}}})


@fact(
    "cfn-rollback-update",
    says="a failed update gives a changed resource its former value, and deletes a new one",
    source=GUIDE + "stack failure options",
    date="documented",
    expected=("UPDATE_ROLLBACK_COMPLETE", "UPDATE_COMPLETE", "DELETE_COMPLETE"),
)
def rollback_update(judge: Any) -> Any:
    stack = Stack(judge)
    stack.deploy({"A": PARAMETER})
    status = stack.deploy({"A": valued("y"), "B": PARAMETER, "C": {**BROKEN, "DependsOn": ["A", "B"]}})
    return status, stack.story("A")[-1], stack.story("B")[-1]


@fact(
    "cfn-retain",
    says="DeletionPolicy Retain keeps a resource",
    source=GUIDE + "DeletionPolicy attribute",
    date="documented",
    expected=("DELETE_COMPLETE", "DELETE_SKIPPED"),
)
def retain(judge: Any) -> Any:
    stack, name = Stack(judge), judge.name()
    kept = {"Type": "AWS::Logs::LogGroup", "Properties": {"LogGroupName": name}, "DeletionPolicy": "Retain"}
    judge.later(judge.client("logs").delete_log_group, logGroupName=name)
    stack.deploy({"A": kept})
    return stack.delete(), stack.story("A")[-1]
