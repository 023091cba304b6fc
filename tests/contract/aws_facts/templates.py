"""Facts of templates: which ones a change set refuses, fails on or accepts."""

import json
from typing import Any

from tests.contract.aws_facts.fact import fact, refusal
from tests.contract.aws_facts.stacks import Stack

Json = dict[str, Any]
REFUSED, MADE = "ValidationError", "CREATE_COMPLETE"
ENGINE = "LocalStack's recording engine/test_"
API = "LocalStack's recording api/test_"
QUOTAS, FUNCTIONS = "AWS CloudFormation User Guide: quotas", "AWS CloudFormation User Guide: condition functions"
PARAMETER = {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": "x"}}
NEVER: Json = {"Never": {"Fn::Equals": ["a", "b"]}}


def valued(value: Any, **attributes: Any) -> Json:
    """Return a parameter of Systems Manager with a value, which costs nothing."""
    return {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": value}, **attributes}


def plan(name: str, says: str, source: str, date: str, resources: Json, *, answer: str = REFUSED, **template: Any) -> None:
    """Register a fact about what CreateChangeSet makes of a template."""

    def question(judge: Any) -> str:
        return Stack(judge).plan(resources, template=template)

    fact(f"cfn-{name}", says=f"a change set for {says}", source=source, date=date, expected=answer)(question)


ONE, HIDDEN = {"A": PARAMETER}, {"A": valued("x", Condition="Never")}
REF, BRANCH = {"Ref": "A"}, {"Fn::If": ["Never", {"Ref": "A"}, "x"]}
CONDITIONS, MAPPINGS = ENGINE + "conditions.py", ENGINE + "mappings.py"
MAPPED, DEEP = {"Fn::FindInMap": ["Map", "a", "none"]}, {"Map": {"a": {"b": {"c": "d"}}}}
IMPORT = {"A": valued({"Fn::ImportValue": "hyperpod-cdk-fact-missing"})}

plan("template-ref", "a Ref to nothing", ENGINE + "references.py", "2024-05-28", {"B": valued(REF)})
plan("template-depends-on", "a DependsOn of nothing", ENGINE + "references.py", "2023-07-10", {"A": valued("x", DependsOn="B")})
said = "a Ref to a resource whose condition is false"
plan("template-conditional-ref", said, CONDITIONS, "2023-06-26", {**HIDDEN, "B": valued(REF)}, Conditions=NEVER)
said = "such a Ref in a branch of Fn::If that is not taken"
plan("template-branch", said, FUNCTIONS, "documented", {**HIDDEN, "B": valued(BRANCH)}, Conditions=NEVER, answer=MADE)
said = "an output of a resource whose condition is false"
plan(
    "template-conditional-output",
    said,
    CONDITIONS,
    "2023-06-27",
    {**HIDDEN, "B": PARAMETER},
    Conditions=NEVER,
    Outputs={"O": {"Value": REF}},
)
plan("template-equals", "Fn::Equals of one", CONDITIONS, "2025-10-08", ONE, Conditions={"One": {"Fn::Equals": ["a"]}})
said = "Fn::FindInMap of a missing key"
plan("template-mapping-key", said, MAPPINGS, "2025-08-07", {"A": valued(MAPPED)}, Mappings={"Map": {"a": {"b": "c"}}})
plan("template-mapping-depth", "a mapping of three levels", MAPPINGS, "2023-06-12", ONE, Mappings=DEEP)
plan("template-null-output", "a null output", API + "validations.py", "2024-05-31", ONE, Outputs={"O": {"Value": None}})
plan("template-resource-text", "a resource that is a text", API + "stacks.py", "2022-11-11", {"A": "x"})
said = "a parameter without a value"
plan("cs-missing-parameter", said, API + "stacks.py", "2025-07-31", ONE, Parameters={"P": {"Type": "String"}})
said = "an import of a missing export, on which only the deployment fails"
plan("cs-import-missing", said, "LocalStack's recording test_change_set_exports_imports.py", "2025-08-05", IMPORT, answer=MADE)
said = "a template of more than 51,200 bytes"
plan("template-size", said, QUOTAS, "documented", ONE, Metadata={"Padding": "x" * 51_200})
said = "a template of almost 51,200 bytes"
plan("template-large", said, QUOTAS, "documented", ONE, Metadata={"Padding": "x" * 50_000}, answer=MADE)


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
