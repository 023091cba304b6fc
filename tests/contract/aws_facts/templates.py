"""Facts of templates: which ones a change set refuses, fails on or accepts."""

import json
from typing import Any

from tests.contract.aws_facts.fact import Question, fact, refusal
from tests.contract.aws_facts.stacks import Stack

Json = dict[str, Any]
REFUSED, MADE = "ValidationError", "CREATE_COMPLETE"
ENGINE = "LocalStack's recording engine/test_"
API = "LocalStack's recording api/test_"
QUOTAS = "AWS CloudFormation User Guide: quotas"
PARAMETER = {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": "x"}}
NEVER: Json = {"Never": {"Fn::Equals": ["a", "b"]}}


def valued(value: Any, **attributes: Any) -> Json:
    """Return a parameter of Systems Manager with a value, which costs nothing."""
    return {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": value}, **attributes}


def planned(resources: Json, **template: Any) -> Question:
    """Return the question what CreateChangeSet makes of a template."""
    return lambda judge: Stack(judge).plan(resources, template=template)


def padded(size: int) -> Question:
    """Return the question whether a template of a size is refused."""
    return planned({"A": PARAMETER}, Description="x" * 100, Metadata={"Padding": "x" * size})


HIDDEN = {"A": valued("x", Condition="Never")}
OUTPUT = {"O": {"Value": {"Ref": "A"}}}
MAPPED = {"Fn::FindInMap": ["Map", "a", "none"]}

# id, what it says, source, date, answer, question
TEMPLATES: tuple[tuple[str, str, str, str, str, Question], ...] = (
    (
        "cfn-template-ref",
        "a Ref to nothing",
        ENGINE + "references.py",
        "2024-05-28",
        REFUSED,
        planned({"A": valued({"Ref": "B"})}),
    ),
    (
        "cfn-template-depends-on",
        "a DependsOn of nothing",
        ENGINE + "references.py",
        "2023-07-10",
        REFUSED,
        planned({"A": valued("x", DependsOn="B")}),
    ),
    (
        "cfn-template-conditional-ref",
        "a Ref to a resource whose condition is false",
        ENGINE + "conditions.py",
        "2023-06-26",
        REFUSED,
        planned({**HIDDEN, "B": valued({"Ref": "A"})}, Conditions=NEVER),
    ),
    (
        "cfn-template-conditional-branch",
        "such a Ref in a branch of Fn::If that is not taken",
        "AWS CloudFormation User Guide: condition functions",
        "documented",
        MADE,
        planned({**HIDDEN, "B": valued({"Fn::If": ["Never", {"Ref": "A"}, "x"]})}, Conditions=NEVER),
    ),
    (
        "cfn-template-conditional-output",
        "an output of a resource whose condition is false",
        ENGINE + "conditions.py",
        "2023-06-27",
        REFUSED,
        planned({**HIDDEN, "B": PARAMETER}, Conditions=NEVER, Outputs=OUTPUT),
    ),
    (
        "cfn-template-equals",
        "Fn::Equals with one argument",
        ENGINE + "conditions.py",
        "2025-10-08",
        REFUSED,
        planned({"A": PARAMETER}, Conditions={"One": {"Fn::Equals": ["a"]}}),
    ),
    (
        "cfn-template-mapping-key",
        "Fn::FindInMap of a missing key",
        ENGINE + "mappings.py",
        "2025-08-07",
        REFUSED,
        planned({"A": valued(MAPPED)}, Mappings={"Map": {"a": {"b": "c"}}}),
    ),
    (
        "cfn-template-mapping-depth",
        "a mapping of three levels",
        ENGINE + "mappings.py",
        "2023-06-12",
        REFUSED,
        planned({"A": PARAMETER}, Mappings={"Map": {"a": {"b": {"c": "d"}}}}),
    ),
    (
        "cfn-template-null-output",
        "an output whose value is null",
        API + "validations.py",
        "2024-05-31",
        REFUSED,
        planned({"A": PARAMETER}, Outputs={"O": {"Value": None}}),
    ),
    ("cfn-template-resource-text", "a resource that is a text", API + "stacks.py", "2022-11-11", REFUSED, planned({"A": "x"})),
    (
        "cfn-cs-missing-parameter",
        "a parameter without a value",
        API + "stacks.py",
        "2025-07-31",
        REFUSED,
        planned({"A": PARAMETER}, Parameters={"P": {"Type": "String"}}),
    ),
    (
        "cfn-cs-import-missing",
        "an import of a missing export, on which only the deployment fails",
        "LocalStack's recording test_change_set_exports_imports.py",
        "2025-08-05",
        MADE,
        planned({"A": valued({"Fn::ImportValue": "hyperpod-cdk-fact-missing"})}),
    ),
    ("cfn-template-size", "a template of more than 51,200 bytes", QUOTAS, "documented", REFUSED, padded(51_200)),
    ("cfn-template-large", "a template of almost 51,200 bytes", QUOTAS, "documented", MADE, padded(50_000)),
)
for name, says, source, date, expected, question in TEMPLATES:
    fact(name, says=f"a change set for {says}", source=source, date=date, expected=expected)(question)


@fact(
    "cfn-bad-attribute",
    says="a stack whose output asks for an attribute that its type lacks is rolled back before anything is made",
    source=ENGINE + "attributes.py",
    date="2023-08-01",
    expected=("ROLLBACK_COMPLETE", []),
)
def bad_attribute(judge: Any) -> Any:
    stack = Stack(judge)
    status = stack.deploy({"A": PARAMETER}, template={"Outputs": {"O": {"Value": {"Fn::GetAtt": ["A", "Nothing"]}}}})
    return status, stack.story("A")


@fact(
    "cfn-bad-name",
    says="the name of a stack starts with a letter, and has only letters, digits and hyphens",
    source=API + "stacks.py",
    date="2023-04-19",
    expected=[REFUSED, REFUSED, REFUSED],
)
def bad_name(judge: Any) -> Any:
    client = judge.client("cloudformation")
    body = json.dumps({"Resources": {"A": PARAMETER}})
    return [refusal(client.create_stack, StackName=name, TemplateBody=body) for name in ("1-fact", "fact_1", "f" * 129)]
