"""Parameters of a template."""

from typing import Any

import pytest

from local_aws.cloudformation.conditions import Conditions
from local_aws.cloudformation.errors import TemplateError
from local_aws.cloudformation.parameters import check_rules, resolve


def _resolve(definition: dict[str, Any], **given: str) -> Any:
    return resolve({"Parameters": {"P": definition}}, given, lambda name: f"stored {name}")["P"]


@pytest.mark.parametrize(
    ("definition", "given", "value"),
    [
        ({"Type": "String", "Default": "d"}, {}, "d"),
        ({"Type": "String", "Default": "d"}, {"P": "g"}, "g"),
        ({"Type": "String", "Default": True}, {}, "true"),
        ({"Type": "Number", "MinValue": 1}, {"P": "2"}, "2"),
        ({"Type": "CommaDelimitedList", "Default": ""}, {}, [""]),
        ({"Type": "List<Number>"}, {"P": "1, 2"}, ["1", "2"]),
        ({"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/n"}, {}, "stored /n"),
        ({"Type": "AWS::SSM::Parameter::Value<List<String>>", "Default": "/n"}, {}, ["stored /n"]),
    ],
)
def test_a_parameter_has_its_value(definition: dict[str, Any], given: dict[str, str], value: Any) -> None:
    assert _resolve(definition, **given) == value


@pytest.mark.parametrize(
    ("definition", "given", "message"),
    [
        ({"Type": "String"}, {}, r"Parameters: \[P\] must have values"),
        ({"Type": "String"}, {"P": "x", "Q": "y"}, r"Parameters: \[Q\] do not exist in the template"),
        ({"Type": "String", "AllowedValues": ["a"]}, {"P": "b"}, "must be one of AllowedValues"),
        ({"Type": "String", "AllowedPattern": "[a-z]+"}, {"P": "1"}, "failed to satisfy constraint"),
        ({"Type": "String", "MaxLength": 2}, {"P": "abc"}, "must contain 0 to 2 characters, got 3"),
        ({"Type": "Number"}, {"P": "x"}, "must be a number"),
        ({"Type": "Number", "MaxValue": 1}, {"P": "2"}, "out of its bounds, got 2"),
    ],
)
def test_a_value_that_is_not_allowed_is_refused(definition: dict[str, Any], given: dict[str, str], message: str) -> None:
    with pytest.raises(TemplateError, match=message):
        _resolve(definition, **given)


def test_a_rule_that_is_not_met_is_an_error() -> None:
    assertion = {"Assert": {"Fn::Not": [{"Fn::Contains": [["1", "2"], "2"]}]}, "AssertDescription": "too old"}

    with pytest.raises(TemplateError, match="too old"):
        check_rules({"Rules": {"R": {"Assertions": [assertion]}}}, Conditions({}, lambda value: value))
