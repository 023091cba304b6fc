"""Stacks updated: in place, by replacement, and back again."""

import pytest
from botocore.exceptions import ClientError

from tests.simulator.cloudformation.conftest import Functions, World, broken, custom_resource, parameter
from tests.simulator.machinery.account import until

pytestmark = pytest.mark.local


def _bucket(name: str, **attributes: str) -> dict[str, object]:
    return {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": name}, **attributes}


def _buckets(world: World) -> list[str]:
    return [bucket["Name"] for bucket in world.client("s3").list_buckets()["Buckets"]]


def test_only_what_changed_is_updated(world: World) -> None:
    world.deploy({"A": parameter("a"), "B": parameter("b")})
    before = len(world.events())

    assert world.deploy({"A": parameter("a", "new"), "B": parameter("b"), "C": parameter("c")}) == "UPDATE_COMPLETE"

    touched = {name for name, _ in world.events()[before:]}
    assert touched == {"stack", "A", "C"}
    assert world.parameters() == {"/a": "new", "/b": "x", "/c": "x"}


def test_a_template_that_changes_nothing_is_refused(world: World) -> None:
    world.deploy({"A": parameter("a")})

    with pytest.raises(ClientError, match=r"No updates are to be performed\."):
        world.deploy({"A": parameter("a")})


def test_changed_metadata_updates_no_resource(world: World) -> None:
    world.deploy({"A": parameter("a"), "B": parameter("b")})
    before = len(world.events())

    world.deploy({"A": parameter("a", Metadata={"path": "new"}), "B": parameter("b", DeletionPolicy="Retain")})

    assert {name for name, _ in world.events()[before:]} == {"stack"}
    world.delete()
    assert world.parameters() == {"/b": "x"}


def test_a_create_only_property_makes_a_new_resource_before_the_old_one_goes(world: World) -> None:
    world.deploy({"A": _bucket("old"), "P": parameter("p", {"Ref": "A"})})

    world.deploy({"A": _bucket("new"), "P": parameter("p", {"Ref": "A"})})

    assert (_buckets(world), world.parameters()["/p"]) == (["new"], "new")
    events = world.events()
    assert events.index(("stack", "UPDATE_COMPLETE_CLEANUP_IN_PROGRESS")) < events.index(("A", "DELETE_COMPLETE"))
    reasons = [
        event.get("ResourceStatusReason") for event in world.all_events() if event["ResourceStatus"] == "UPDATE_IN_PROGRESS"
    ]
    assert "Requested update requires the creation of a new physical resource; hence creating one." in reasons


def test_a_replaced_resource_is_kept_where_the_template_says_so(world: World) -> None:
    world.deploy({"A": _bucket("old")})

    world.deploy({"A": _bucket("new", UpdateReplacePolicy="Retain")})

    assert (set(_buckets(world)), world.physical_id("A")) == ({"new", "old"}, "new")


def test_a_resource_with_a_fixed_name_cannot_be_replaced_under_it(world: World) -> None:
    def role(kind: str) -> dict[str, object]:
        properties = {"RoleName": "fixed", "Path": kind, "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": []}}
        return {"Type": "AWS::IAM::Role", "Properties": properties}

    world.deploy({"A": role("/a/")})

    assert world.deploy({"A": role("/b/")}) == "UPDATE_ROLLBACK_COMPLETE"
    assert "Rename fixed and update the stack again" in world.reason("A", "UPDATE_FAILED")


def test_a_failed_update_brings_back_what_was(world: World) -> None:
    old = {"A": parameter("a"), "Gone": parameter("gone"), "Bucket": _bucket("old")}
    world.deploy(old)
    new = {"A": parameter("a", "new"), "B": parameter("b"), "Bucket": _bucket("new"), "C": broken(DependsOn=["A", "B", "Bucket"])}

    assert world.deploy(new) == "UPDATE_ROLLBACK_COMPLETE"

    assert world.parameters() == {"/a": "x", "/gone": "x"}
    assert (_buckets(world), world.physical_id("Bucket"), world.resources()) == (["old"], "old", set(old))
    events = world.events()
    assert events.index(("stack", "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS")) < events.index(("B", "DELETE_COMPLETE"))


def test_a_rollback_that_fails_can_be_continued_without_the_resource(world: World, functions: Functions) -> None:
    world.deploy({"T": custom_resource(N=1), "A": parameter("a")})
    functions.on("Update", Status="FAILED", Reason="no")

    assert world.deploy({"T": custom_resource(N=2), "A": parameter("a", "new")}) == "UPDATE_ROLLBACK_FAILED"
    with pytest.raises(ClientError, match="can not be updated"):
        world.deploy({"T": custom_resource(N=3), "A": parameter("a")})
    with pytest.raises(ClientError, match="cannot be skipped"):
        world.cloudformation.continue_update_rollback(StackName="stack", ResourcesToSkip=["A"])

    world.cloudformation.continue_update_rollback(StackName="stack", ResourcesToSkip=["T"])

    assert (world.settled(), world.parameters()) == ("UPDATE_ROLLBACK_COMPLETE", {"/a": "x"})
    assert world.reason("T", "UPDATE_COMPLETE") == "Resource skipped during UpdateRollback"


def test_a_rollback_that_is_continued_asks_again_for_what_was(world: World, functions: Functions) -> None:
    world.deploy({"T": custom_resource(N=1)})
    functions.on("Update", Status="FAILED", Reason="no")
    assert world.deploy({"T": custom_resource(N=2)}) == "UPDATE_ROLLBACK_FAILED"
    functions.on("Update", Status="SUCCESS")

    world.cloudformation.continue_update_rollback(StackName="stack")

    assert world.settled() == "UPDATE_ROLLBACK_COMPLETE"
    asked = [(event["OldResourceProperties"]["N"], event["ResourceProperties"]["N"]) for event in functions.events[1:]]
    assert asked == [("1", "2"), ("2", "1"), ("2", "1")]


def test_without_rollback_a_failed_update_is_tried_again(world: World) -> None:
    world.deploy({"A": parameter("a")})
    assert world.deploy({"A": parameter("a", "new"), "B": broken(DependsOn="A")}, DisableRollback=True) == "UPDATE_FAILED"
    assert world.parameters() == {"/a": "new"}

    world.client("iam").create_role(RoleName="nobody", AssumeRolePolicyDocument="{}")

    assert world.deploy({"A": parameter("a", "new"), "B": broken(DependsOn="A")}) == "UPDATE_COMPLETE"


def test_a_resource_cannot_change_its_type(world: World) -> None:
    world.deploy({"A": parameter("a")})

    with pytest.raises(ClientError, match="Update of resource type is not permitted"):
        world.deploy({"A": _bucket("a")})


def test_an_update_can_be_cancelled(world: World, functions: Functions, at_once: None) -> None:
    world.deploy({"T": custom_resource(N=1)})
    functions.replies["Update"] = lambda event: {} if event["ResourceProperties"]["N"] == "1" else None

    change_set = world.change_set({"T": custom_resource(N=2)})
    world.cloudformation.execute_change_set(ChangeSetName=change_set["ChangeSetId"])
    until(lambda: "Update" in functions.kinds())
    world.cloudformation.cancel_update_stack(StackName="stack")

    assert world.settled() == "UPDATE_ROLLBACK_COMPLETE"
    assert world.reason("T", "UPDATE_FAILED") == "Resource update cancelled"
    assert [event["ResourceProperties"]["N"] for event in functions.events] == ["1", "2", "1"]


def test_a_stack_can_be_deleted_while_it_is_being_made(world: World, functions: Functions, at_once: None) -> None:
    functions.silent_on("Create")
    change_set = world.change_set({"T": custom_resource(), "A": parameter("a")})
    world.cloudformation.execute_change_set(ChangeSetName=change_set["ChangeSetId"])
    until(lambda: "Create" in functions.kinds())

    assert world.delete() == "DELETE_COMPLETE"
    assert (functions.kinds(), world.parameters()) == (["Create", "Delete"], {})
