"""The template language: what each function gives."""

from typing import Any

import pytest

from local_aws.cloudformation.errors import TemplateError
from local_aws.cloudformation.intrinsics import LATER, Resolver, Surroundings

TEMPLATE = {
    "Mappings": {"M": {"us-west-2": {"zone": "a"}}},
    "Conditions": {
        "Yes": {"Fn::Equals": [{"Ref": "P"}, "p"]},
        "No": {"Fn::Not": [{"Condition": "Yes"}]},
        "Both": {"Fn::And": [{"Condition": "Yes"}, {"Condition": "No"}]},
        "Either": {"Fn::Or": [{"Condition": "Yes"}, {"Condition": "No"}]},
        "Among": {"Fn::Contains": [["p", "q"], {"Ref": "P"}]},
    },
}


def _resolver() -> Resolver:
    attributes = {("R", "Arn"): "arn:r", ("R", "Nested.Name"): "n", ("R", "Later"): LATER}
    around = Surroundings(
        pseudo={"AWS::Region": "us-west-2", "AWS::AccountId": "1"},
        parameters={"P": "p", "List": ["a", "b"]},
        ref={"R": "r-1"}.__getitem__,
        attribute=lambda name, attribute: attributes[name, attribute],
        import_value=lambda name: f"imported {name}",
        stack_output=lambda argument: f"{argument['StackName']}/{argument['OutputName']}",
        zones=lambda region: [f"{region or 'here'}a"],
        dynamic=lambda service, rest: f"<{service} {rest}>",
    )
    return Resolver(TEMPLATE, around)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ({"Ref": "P"}, "p"),
        ({"Ref": "R"}, "r-1"),
        ({"Ref": "AWS::Region"}, "us-west-2"),
        ({"Fn::GetAtt": ["R", "Arn"]}, "arn:r"),
        ({"Fn::GetAtt": "R.Nested.Name"}, "n"),
        ({"Fn::Join": ["-", ["a", 1, True, {"Ref": "P"}]]}, "a-1-true-p"),
        ({"Fn::Sub": "${P}/${R.Arn}/${AWS::Region}/${!Kept}"}, "p/arn:r/us-west-2/${Kept}"),
        ({"Fn::Sub": ["${Own}-${P}", {"Own": {"Ref": "R"}}]}, "r-1-p"),
        ({"Fn::Select": ["1", {"Ref": "List"}]}, "b"),
        ({"Fn::Select": [0, {"Fn::Split": ["/", {"Fn::GetAtt": ["R", "Later"]}]}]}, LATER),
        ({"Fn::Split": [",", "a,b"]}, ["a", "b"]),
        ({"Fn::FindInMap": ["M", {"Ref": "AWS::Region"}, "zone"]}, "a"),
        ({"Fn::FindInMap": ["M", "x", "zone", {"DefaultValue": "d"}]}, "d"),
        ({"Fn::If": ["Yes", "yes", "no"]}, "yes"),
        ({"Fn::If": ["No", "yes", {"Ref": "P"}]}, "p"),
        ({"Fn::If": ["Both", 1, 2]}, 2),
        ({"Fn::If": ["Either", 1, 2]}, 1),
        ({"Fn::If": ["Among", 1, 2]}, 1),
        ({"a": {"Ref": "AWS::NoValue"}, "b": [{"Ref": "AWS::NoValue"}, 1]}, {"b": [1]}),
        ({"Fn::ImportValue": {"Fn::Sub": "${P}-out"}}, "imported p-out"),
        ({"Fn::GetStackOutput": {"StackName": "s", "OutputName": {"Ref": "P"}}}, "s/p"),
        ({"Fn::GetAZs": ""}, ["herea"]),
        ({"Fn::Base64": "ab"}, "YWI="),
        ({"Fn::Cidr": ["10.0.0.0/16", 2, 8]}, ["10.0.0.0/24", "10.0.1.0/24"]),
        ({"Fn::ToJsonString": {"n": 1, "r": {"Ref": "R"}}}, '{"n":1,"r":"r-1"}'),
        ({"Fn::Length": {"Ref": "List"}}, 2),
        ("x-{{resolve:ssm:/a/b:3}}", "x-<ssm /a/b:3>"),
        ({"Fn::Join": ["", ["{{resolve:", "ssm:/a}}"]]}, "<ssm /a>"),
    ],
)
def test_a_function_gives_its_value(expression: Any, value: Any) -> None:
    assert _resolver().value(expression) == value


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ({"Fn::Transform": {}}, "not part of the embedded AWS: Fn::Transform"),
        ({"Fn::If": ["Nobody", 1, 2]}, "Unresolved condition dependency Nobody"),
        ({"Fn::If": ["Yes", 1]}, "every Fn::If object requires the name of a condition and two values"),
        ({"Fn::FindInMap": ["M", "x", "zone"]}, "Unable to get mapping for M::x::zone"),
        ({"Fn::Select": [2, ["a"]]}, "cannot select nonexistent value at index 2"),
    ],
)
def test_what_cannot_be_said_is_an_error(expression: Any, message: str) -> None:
    with pytest.raises(TemplateError, match=message):
        _resolver().value(expression)


def test_the_branches_that_conditions_leave_out_are_no_references() -> None:
    value = {"Fn::Join": ["-", [{"Fn::If": ["No", 1, {"Fn::If": ["Yes", {"Ref": "R"}, {"Ref": "S"}]}]}]]}
    assert _resolver().conditions.chosen(value) == {"Fn::Join": ["-", [{"Ref": "R"}]]}


@pytest.mark.parametrize(
    "condition",
    [{"Fn::Equals": ["a"]}, {"Fn::Not": []}, {"Fn::And": [{"Condition": "Yes"}]}, {"Fn::Or": [{"Condition": "Yes"}] * 11}],
)
def test_a_condition_function_has_its_number_of_arguments(condition: dict[str, Any]) -> None:
    with pytest.raises(TemplateError, match="object requires"):
        _resolver().conditions.evaluate(condition)
