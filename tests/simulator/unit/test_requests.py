from typing import Any

import pytest

from local_aws.iam.requests import Place, required_permissions

FUNCTION = "arn:aws:lambda:us-west-2:123456789012:function:f"
MACHINE = "arn:aws:states:us-west-2:123456789012:stateMachine:m"
KEY = "arn:aws:kms:us-west-2:123456789012:key/1"


def place(service: str) -> Place:
    return Place(service, "us-west-2", "123456789012")


@pytest.mark.parametrize(
    ("service", "operation", "parameters", "expected"),
    [
        ("lambda", "Invoke", {"FunctionName": "f"}, ("lambda:InvokeFunction", FUNCTION)),
        ("lambda", "Invoke", {"FunctionName": FUNCTION}, ("lambda:InvokeFunction", FUNCTION)),
        ("lambda", "Invoke", {"FunctionName": "123456789012:function:f"}, ("lambda:InvokeFunction", FUNCTION)),
        ("lambda", "ListFunctions", {}, ("lambda:ListFunctions", "*")),
        ("states", "StartExecution", {"stateMachineArn": MACHINE}, ("states:StartExecution", MACHINE)),
        (
            "logs",
            "PutLogEvents",
            {"logGroupName": "/g", "logStreamName": "s"},
            ("logs:PutLogEvents", "arn:aws:logs:us-west-2:123456789012:log-group:/g:log-stream:s"),
        ),
        ("logs", "DescribeLogGroups", {}, ("logs:DescribeLogGroups", "*")),
        ("kms", "Sign", {"KeyId": KEY}, ("kms:Sign", KEY)),
        ("kms", "Sign", {"KeyId": "1"}, ("kms:Sign", KEY)),
        ("iam", "GetRole", {"RoleName": "r"}, ("iam:GetRole", "arn:aws:iam::123456789012:role/r")),
        ("monitoring", "PutMetricData", {"Namespace": "n"}, ("cloudwatch:PutMetricData", "*")),
        ("new-service", "DoIt", {"Name": "x"}, ("new-service:DoIt", "*")),
    ],
)
def test_a_request_is_put_into_iams_words(
    service: str, operation: str, parameters: dict[str, Any], expected: tuple[str, str]
) -> None:
    required = required_permissions(place(service), operation, parameters)
    assert (required.action, required.resources) == (expected[0], (expected[1],))


@pytest.mark.parametrize(
    "parameters",
    [{"Tags": [{"Key": "owner", "Value": "me"}]}, {"tags": [{"key": "owner", "value": "me"}]}, {"Tags": {"owner": "me"}}],
)
def test_tags_of_a_request_are_in_its_context_however_they_are_spelled(parameters: dict[str, Any]) -> None:
    context = required_permissions(place("states"), "CreateStateMachine", parameters).context
    assert context["aws:RequestTag/owner"] == "me"
    assert context["aws:TagKeys"] == ["owner"]
    assert context["aws:RequestedRegion"] == "us-west-2"


def test_the_keys_of_tags_to_remove_are_in_the_context() -> None:
    assert required_permissions(place("sns"), "UntagResource", {"TagKeys": ["a", "b"]}).context["aws:TagKeys"] == ["a", "b"]
