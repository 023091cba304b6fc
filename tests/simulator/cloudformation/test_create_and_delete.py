"""Stacks made and deleted."""

import pytest
from botocore.exceptions import ClientError

from tests.simulator.cloudformation.conftest import World, broken, parameter

pytestmark = pytest.mark.local


def test_resources_are_made_after_what_they_refer_to(world: World) -> None:
    resources = {"B": parameter("b", {"Ref": "A"}), "A": parameter("a"), "C": parameter("c", DependsOn="B")}

    status = world.deploy(resources, template={"Outputs": {"B": {"Value": {"Fn::GetAtt": ["B", "Value"]}}}})

    completed = [name for name, state in world.events() if state == "CREATE_COMPLETE"]
    assert (status, completed) == ("CREATE_COMPLETE", ["A", "B", "C", "stack"])
    assert world.outputs() == {"B": "/a"}


def test_a_condition_that_is_false_leaves_a_resource_out(world: World) -> None:
    conditions = {"Never": {"Fn::Equals": ["a", "b"]}}

    world.deploy({"A": parameter("a"), "B": parameter("b", Condition="Never")}, template={"Conditions": conditions})

    assert world.parameters() == {"/a": "x"}


def test_a_parameter_may_come_from_the_parameter_store(world: World) -> None:
    world.ssm.put_parameter(Name="/given", Type="String", Value="stored")
    kind = {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/given"}
    resources = {"A": parameter("a", {"Ref": "P"}), "B": parameter("b", "{{resolve:ssm:/given}}!")}

    world.deploy(resources, template={"Parameters": {"P": kind}})

    assert (world.parameters()["/a"], world.parameters()["/b"]) == ("stored", "stored!")


def test_a_failed_creation_is_taken_back_and_must_be_deleted_first(world: World) -> None:
    status = world.deploy({"A": parameter("a"), "B": broken(DependsOn="A")})

    assert (status, world.parameters(), world.resources()) == ("ROLLBACK_COMPLETE", {}, set())
    assert "NoSuchEntity" in world.reason("B", "CREATE_FAILED")
    assert world.reason("stack", "ROLLBACK_IN_PROGRESS") == (
        "The following resource(s) failed to create: [B]. Rollback requested by user."
    )
    with pytest.raises(ClientError, match="is in ROLLBACK_COMPLETE state and can not be updated"):
        world.deploy({"A": parameter("a")})


def test_what_is_retained_except_on_create_goes_when_its_creation_fails(world: World) -> None:
    resources = {
        "A": parameter("a", DeletionPolicy="RetainExceptOnCreate"),
        "B": parameter("b", DeletionPolicy="Retain"),
        "C": broken(DependsOn=["A", "B"]),
    }

    world.deploy(resources)

    assert world.parameters() == {"/b": "x"}


def test_without_rollback_a_failed_stack_stays_and_can_be_mended(world: World) -> None:
    assert world.deploy({"A": parameter("a"), "B": broken()}, DisableRollback=True) == "CREATE_FAILED"
    assert world.parameters() == {"/a": "x"}

    world.client("iam").create_role(RoleName="nobody", AssumeRolePolicyDocument="{}")
    assert world.deploy({"A": parameter("a"), "B": broken()}) == "UPDATE_COMPLETE"
    assert world.resources() == {"A", "B"}


def test_without_rollback_a_failed_stack_can_be_rolled_back_later(world: World) -> None:
    world.deploy({"A": parameter("a"), "B": broken()}, DisableRollback=True)

    world.cloudformation.rollback_stack(StackName="stack")

    assert (world.settled(), world.parameters()) == ("ROLLBACK_COMPLETE", {})


def test_a_deletion_takes_all_but_what_is_retained(world: World) -> None:
    world.deploy({"A": parameter("a", DeletionPolicy="Retain"), "B": parameter("b", {"Ref": "A"})})
    stack_id = world.stack()["StackId"]

    assert world.delete() == "DELETE_COMPLETE"

    assert (world.parameters(), world.names()) == ({"/a": "x"}, [])
    assert ("A", "DELETE_SKIPPED") in world.events(stack_id)


def test_what_cannot_be_deleted_keeps_what_it_needs(world: World) -> None:
    bucket = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "full"}, "DependsOn": "Needed"}
    world.deploy({"Bucket": bucket, "Needed": parameter("needed"), "Other": parameter("other")})
    world.client("s3").put_object(Bucket="full", Key="k", Body=b"x")

    assert world.delete() == "DELETE_FAILED"
    assert (world.resources(), world.parameters()) == ({"Bucket", "Needed"}, {"/needed": "x"})
    assert "BucketNotEmpty" in world.reason("Bucket", "DELETE_FAILED")

    assert world.delete(RetainResources=["Bucket"]) == "DELETE_COMPLETE"
    assert world.parameters() == {}


def test_a_protected_stack_is_not_deleted(world: World) -> None:
    world.deploy({"A": parameter("a")}, EnableTerminationProtection=True)

    with pytest.raises(ClientError, match="cannot be deleted while TerminationProtection is enabled"):
        world.delete()

    world.cloudformation.update_termination_protection(StackName="stack", EnableTerminationProtection=False)
    assert world.delete() == "DELETE_COMPLETE"


def test_iam_resources_need_a_capability(world: World) -> None:
    with pytest.raises(ClientError, match=r"Requires capabilities : \[CAPABILITY_IAM\]"):
        world.cloudformation.create_stack(StackName="s", TemplateBody='{"Resources": {"B": {"Type": "AWS::IAM::Policy"}}}')


def test_the_tags_of_a_stack_reach_its_resources(world: World) -> None:
    own = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "tagged", "Tags": [{"Key": "team", "Value": "own"}]}}
    vpc = {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}}
    tags = [{"Key": "team", "Value": "ml"}, {"Key": "cost", "Value": "1"}]

    world.deploy({"Bucket": own, "Vpc": vpc, "P": parameter("p")}, Tags=tags)

    bucket = world.client("s3").get_bucket_tagging(Bucket="tagged")["TagSet"]
    assert {tag["Key"]: tag["Value"] for tag in bucket} == {"team": "own", "cost": "1"}
    (found,) = world.client("ec2").describe_vpcs(VpcIds=[world.physical_id("Vpc")])["Vpcs"]
    of_vpc = {tag["Key"]: tag["Value"] for tag in found["Tags"]}
    assert of_vpc["team"] == "ml"
    assert of_vpc["aws:cloudformation:logical-id"] == "Vpc"


def test_an_action_that_is_not_there_is_refused_plainly(world: World) -> None:
    with pytest.raises(ClientError, match=r"not part of the embedded AWS: .*estimate_template_cost") as refused:
        world.cloudformation.estimate_template_cost(TemplateBody="{}")
    assert refused.value.response["ResponseMetadata"]["HTTPStatusCode"] == 400
