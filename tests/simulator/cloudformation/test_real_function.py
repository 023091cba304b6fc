"""A custom resource with a real function behind it, made by the same stack."""

from typing import Any

import pytest

from tests.simulator.cloudformation.conftest import World

pytestmark = pytest.mark.local

CODE = """
import json, urllib.request

def handler(event, context):
    names = ("StackId", "RequestId", "LogicalResourceId")
    data = {"Doubled": str(2 * int(event["ResourceProperties"].get("N", 0)))}
    answer = {"Status": "SUCCESS", "PhysicalResourceId": "real", "Data": data, **{name: event[name] for name in names}}
    request = urllib.request.Request(event["ResponseURL"], data=json.dumps(answer).encode(), method="PUT")
    urllib.request.urlopen(request).read()
"""


def _resources(number: int) -> dict[str, Any]:
    trust = {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
    function = {
        "Code": {"ZipFile": CODE},
        "Handler": "index.handler",
        "Runtime": "python3.13",
        "Role": {"Fn::GetAtt": ["Role", "Arn"]},
        "Timeout": 30,
    }
    return {
        "Role": {
            "Type": "AWS::IAM::Role",
            "Properties": {"AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [trust]}},
        },
        "Function": {"Type": "AWS::Lambda::Function", "Properties": function},
        "Thing": {"Type": "Custom::Thing", "Properties": {"ServiceToken": {"Fn::GetAtt": ["Function", "Arn"]}, "N": number}},
    }


def test_a_function_of_the_stack_makes_the_resource(world: World) -> None:
    template = {"Outputs": {"Doubled": {"Value": {"Fn::GetAtt": ["Thing", "Doubled"]}}}}

    assert world.deploy(_resources(2), template=template) == "CREATE_COMPLETE", world.failures()
    assert world.outputs() == {"Doubled": "4"}
    assert world.deploy(_resources(3), template=template) == "UPDATE_COMPLETE"
    assert world.outputs() == {"Doubled": "6"}
    assert world.delete() == "DELETE_COMPLETE"
    assert world.client("lambda").list_functions()["Functions"] == []
