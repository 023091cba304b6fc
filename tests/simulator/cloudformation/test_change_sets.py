"""Change sets, and what they say before anything is done."""

import json
from contextlib import nullcontext
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.simulator.cloudformation.conftest import REGION, Functions, World, custom_resource, parameter

pytestmark = pytest.mark.local


def _changes(change_set: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {change["ResourceChange"]["LogicalResourceId"]: change["ResourceChange"] for change in change_set["Changes"]}


def test_a_type_that_is_not_there_is_refused(world: World) -> None:
    change_set = world.change_set({"Q": {"Type": "AWS::SQS::Queue"}})

    assert (change_set["Status"], change_set["StatusReason"]) == ("FAILED", "not part of the embedded AWS: AWS::SQS::Queue")
    with pytest.raises(ClientError, match="cannot be executed in its current status"):
        world.cloudformation.execute_change_set(ChangeSetName=change_set["ChangeSetId"])


def test_a_property_that_is_not_acted_upon_is_refused(world: World) -> None:
    bucket = {"Type": "AWS::S3::Bucket", "Properties": {"WebsiteConfiguration": {"IndexDocument": "i"}}}

    assert world.change_set({"B": bucket})["StatusReason"] == (
        "not part of the embedded AWS: AWS::S3::Bucket property WebsiteConfiguration (resource B)"
    )


def test_a_property_that_aws_does_not_have_is_refused_as_aws_does(world: World) -> None:
    vpc = {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlok": "10.0.0.0/16"}}

    reason = world.change_set({"V": vpc})["StatusReason"]

    assert "Properties validation failed for resource V with message: [#: extraneous key [CidrBlok] is not permitted]" in reason


def test_a_property_that_only_a_function_gives_is_refused_when_it_is_made(world: World) -> None:
    given = [{"WebsiteConfiguration": {"IndexDocument": "i"}}]
    bucket = {"Type": "AWS::S3::Bucket", "Properties": {"Fn::Select": [0, given]}}

    assert world.deploy({"B": bucket}) == "ROLLBACK_COMPLETE"
    assert "property WebsiteConfiguration" in world.reason("B", "CREATE_FAILED")


def test_a_plan_makes_nothing_and_its_stack_can_be_deleted(world: World) -> None:
    change_set = world.change_set({"A": parameter("a")})

    assert _changes(change_set)["A"]["Action"] == "Add"
    assert (world.stack()["StackStatus"], world.parameters()) == ("REVIEW_IN_PROGRESS", {})
    assert world.delete() == "DELETE_COMPLETE"


def test_a_plan_names_the_field_that_changes_and_its_values(world: World, functions: Functions) -> None:
    def groups(count: int) -> list[dict[str, Any]]:
        return [{"Name": "head", "Count": 1}, {"Name": "work", "Count": count}]

    world.deploy({"T": custom_resource(Request={"Groups": groups(4)}), "A": parameter("a", {"Ref": "T"})})

    change_set = world.change_set({"T": custom_resource(Request={"Groups": groups(6)}), "A": parameter("a", {"Ref": "T"})})

    changes = _changes(change_set)
    assert list(changes) == ["T"]
    (detail,) = changes["T"]["Details"]
    target = detail["Target"]
    assert (target["Path"], target["BeforeValue"], target["AfterValue"]) == ("/Properties/Request/Groups/1/Count", "4", "6")
    assert (changes["T"]["Replacement"], target["Name"], target["RequiresRecreation"]) == ("False", "Request", "Never")
    assert json.loads(changes["T"]["AfterContext"])["Properties"]["Request"]["Groups"][1]["Count"] == 6


def test_a_plan_follows_what_a_replacement_changes(world: World) -> None:
    def resources(path: str) -> dict[str, Any]:
        role = {"Path": path, "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": []}}
        return {"R": {"Type": "AWS::IAM::Role", "Properties": role}, "A": parameter("a", {"Ref": "R"}), "B": parameter("b")}

    world.deploy(resources("/a/"))

    changes = _changes(world.change_set(resources("/b/")))

    assert {name: change["Replacement"] for name, change in changes.items()} == {"R": "True", "A": "False"}
    (detail,) = changes["A"]["Details"]
    assert (detail["Evaluation"], detail["Target"]["AfterValue"]) == ("Dynamic", "{{changeSet:KNOWN_AFTER_APPLY}}")
    assert changes["R"]["PolicyAction"] == "ReplaceAndDelete"


def test_a_plan_without_changes_fails_in_the_words_that_the_command_line_knows(world: World) -> None:
    world.deploy({"A": parameter("a")})

    change_set = world.change_set({"A": parameter("a")})

    assert (change_set["Status"], change_set["ExecutionStatus"]) == ("FAILED", "UNAVAILABLE")
    assert change_set["StatusReason"].startswith("The submitted information didn't contain changes.")


def test_a_changed_output_is_a_change(world: World) -> None:
    world.deploy({"A": parameter("a")})

    change_set = world.change_set({"A": parameter("a")}, template={"Outputs": {"O": {"Value": "v"}}})
    world.cloudformation.execute_change_set(ChangeSetName=change_set["ChangeSetId"])

    assert (world.settled(), world.outputs()) == ("UPDATE_COMPLETE", {"O": "v"})


def test_a_changed_policy_is_shown_as_such(world: World) -> None:
    world.deploy({"A": parameter("a")})

    changes = _changes(world.change_set({"A": parameter("a", DeletionPolicy="Retain")}))

    assert (changes["A"]["Scope"], changes["A"]["Replacement"]) == (["DeletionPolicy"], "False")


def test_a_template_in_a_bucket_has_at_most_a_megabyte(world: World) -> None:
    s3 = world.client("s3")
    s3.create_bucket(Bucket="templates", CreateBucketConfiguration={"LocationConstraint": REGION})
    given = {"StackName": "large", "TemplateURL": f"https://templates.s3.{REGION}.amazonaws.com/large"}
    for size in (1_000_001, 900_000):
        template = {"Resources": {"A": parameter("a")}, "Metadata": {"Padding": "x" * size}}
        s3.put_object(Bucket="templates", Key="large", Body=json.dumps(template))
        with pytest.raises(ClientError, match="more than 1000000 bytes") if size > 1_000_000 else nullcontext():
            world.cloudformation.create_stack(**given)


@pytest.mark.parametrize("properties", [{"Ref": "A"}, {"Fn::GetAtt": ["A", "Value"]}])
def test_properties_that_are_no_object_are_refused(world: World, properties: Any) -> None:
    with pytest.raises(ClientError, match=r"ValidationError.*Properties of a resource"):
        world.change_set({"A": parameter("a"), "B": {"Type": "AWS::SSM::Parameter", "Properties": properties}})
