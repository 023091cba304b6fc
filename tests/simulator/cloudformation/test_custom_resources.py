"""Custom resources: what their function is told, and what CloudFormation makes of its answer."""

import json
import threading
from typing import Any

import pytest

from local_aws.testing import ask
from tests.simulator.cloudformation.conftest import Functions, World, broken, custom_resource, parameter
from tests.simulator.machinery.account import until

pytestmark = pytest.mark.local


def _answers() -> list[dict[str, Any]]:
    return list(ask("answers"))


def test_a_function_receives_every_scalar_as_a_string(world: World, functions: Functions) -> None:
    world.deploy({"T": custom_resource(Count=2, On=True, List=[1, {"Deep": False}], Text="t", ServiceTimeout=60)})

    (event,) = functions.events
    properties = {"Count": "2", "On": "true", "List": ["1", {"Deep": "false"}], "Text": "t", "ServiceTimeout": "60"}
    assert event["ResourceProperties"] == {**properties, "ServiceToken": event["ServiceToken"]}
    assert (event["RequestType"], event["ResourceType"], event["LogicalResourceId"]) == ("Create", "Custom::Thing", "T")
    assert event["StackId"] == world.stack()["StackId"]
    assert {"PhysicalResourceId", "OldResourceProperties"}.isdisjoint(event)


def test_its_answer_gives_the_id_and_the_attributes(world: World, functions: Functions) -> None:
    functions.on("Create", PhysicalResourceId="thing-1", Data={"Name": "n", "Deep.Key": "d"})
    outputs = {"Id": {"Ref": "T"}, "Name": {"Fn::GetAtt": ["T", "Name"]}, "Deep": {"Fn::GetAtt": ["T", "Deep.Key"]}}

    world.deploy({"T": custom_resource()}, template={"Outputs": {key: {"Value": value} for key, value in outputs.items()}})

    assert world.outputs() == {"Id": "thing-1", "Name": "n", "Deep": "d"}


def test_an_attribute_that_was_not_answered_fails_who_asks(world: World, functions: Functions) -> None:
    assert world.deploy({"T": custom_resource(), "A": parameter("a", {"Fn::GetAtt": ["T", "Name"]})}) == "ROLLBACK_COMPLETE"
    assert "Vendor response doesn't contain Name attribute in object made-T" in world.reason("A", "CREATE_FAILED")


def test_an_update_has_the_old_properties_and_keeps_the_id(world: World, functions: Functions) -> None:
    world.deploy({"T": custom_resource(N=1)})

    assert world.deploy({"T": custom_resource(N=2)}) == "UPDATE_COMPLETE"

    _, update = functions.events
    assert (update["ResourceProperties"]["N"], update["OldResourceProperties"]["N"]) == ("2", "1")
    assert (update["PhysicalResourceId"], functions.kinds()) == ("made-T", ["Create", "Update"])


def test_a_new_id_is_a_replacement_and_the_old_one_is_deleted(world: World, functions: Functions) -> None:
    world.deploy({"T": custom_resource(N=1), "A": parameter("a", {"Ref": "T"})})
    functions.on("Update", PhysicalResourceId="second")

    world.deploy({"T": custom_resource(N=2), "A": parameter("a", {"Ref": "T"})})

    assert (world.physical_id("T"), world.parameters()["/a"]) == ("second", "second")
    delete = functions.events[-1]
    assert (delete["RequestType"], delete["PhysicalResourceId"], delete["ResourceProperties"]["N"]) == ("Delete", "made-T", "1")


def test_a_failure_is_reported_with_its_reason_and_the_named_resource_is_deleted(world: World, functions: Functions) -> None:
    functions.on("Create", Status="FAILED", Reason="no quota", PhysicalResourceId="half-made")

    assert world.deploy({"T": custom_resource()}) == "ROLLBACK_COMPLETE"

    create, delete = functions.events
    assert world.reason("T", "CREATE_FAILED") == (
        f"Received response status [FAILED] from custom resource. Message returned: no quota (RequestId: {create['RequestId']})"
    )
    assert (delete["RequestType"], delete["PhysicalResourceId"]) == ("Delete", "half-made")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"RequestId": ""}, "Invalid response object: RequestId must be given"),
        ({"Data": "text"}, "Invalid response object: Value of property Data must be an object"),
    ],
)
def test_an_answer_of_the_wrong_form_is_a_failure(
    world: World, functions: Functions, fields: dict[str, Any], reason: str
) -> None:
    functions.on("Create", **fields)

    assert world.deploy({"T": custom_resource()}) == "ROLLBACK_COMPLETE"
    assert world.reason("T", "CREATE_FAILED") == reason


def test_only_the_first_answer_counts_and_all_are_recorded(world: World, functions: Functions) -> None:
    world.deploy({"T": custom_resource()})

    functions.answer(functions.events[0], Status="FAILED", Reason="late")

    assert [(answer["accepted"], json.loads(answer["body"])["Status"]) for answer in _answers()] == [
        (True, "SUCCESS"),
        (False, "FAILED"),
    ]
    assert world.stack()["StackStatus"] == "CREATE_COMPLETE"


def test_a_creation_under_way_is_cancelled_when_another_resource_fails(world: World, functions: Functions) -> None:
    functions.silent_on("Create")

    world.deploy({"T": custom_resource(), "B": broken()})

    create, delete = functions.events
    assert world.reason("T", "CREATE_FAILED") == "Resource creation cancelled"
    assert delete["PhysicalResourceId"].startswith("stack-T-")
    assert delete["ResourceProperties"] == create["ResourceProperties"]
    assert world.reason("stack", "ROLLBACK_IN_PROGRESS").startswith("The following resource(s) failed to create: [B, T].")


def test_a_failed_update_is_followed_by_one_with_the_properties_swapped(world: World, functions: Functions) -> None:
    world.deploy({"T": custom_resource(N=1)})
    functions.replies["Update"] = lambda event: {} if event["ResourceProperties"]["N"] == "1" else {"Status": "FAILED"}

    assert world.deploy({"T": custom_resource(N=2)}) == "UPDATE_ROLLBACK_COMPLETE"

    swapped = functions.events[-1]
    assert (swapped["ResourceProperties"]["N"], swapped["OldResourceProperties"]["N"]) == ("1", "2")


def test_a_replacement_is_taken_back_by_an_update_and_a_delete_of_what_was_made(world: World, functions: Functions) -> None:
    world.deploy({"T": custom_resource(N=1)})
    functions.replies["Update"] = lambda event: {"PhysicalResourceId": f"id-{event['ResourceProperties']['N']}"}

    world.deploy({"T": custom_resource(N=2), "B": broken(DependsOn="T")})

    assert world.physical_id("T") == "id-1"
    told = [(event["RequestType"], event.get("PhysicalResourceId")) for event in functions.events[1:]]
    assert told[:2] == [("Update", "made-T"), ("Update", "id-2")]
    assert set(told[2:]) == {("Delete", "id-2"), ("Delete", "made-T")}


NO_ID = [(kind, status, "") for kind in ("Create", "Update", "Delete") for status in ("SUCCESS", "FAILED")]


@pytest.mark.parametrize(("kind", "status", "physical_id"), [*NO_ID, ("Delete", "SUCCESS", "another")])
def test_every_answer_needs_an_id(world: World, functions: Functions, kind: str, status: str, physical_id: str) -> None:
    functions.on(kind, Status=status, Reason="not shown", PhysicalResourceId=physical_id)
    created = world.deploy({"T": custom_resource(N=1)})
    stack_id = str(world.stack()["StackId"])
    if created == "CREATE_COMPLETE":
        world.deploy({"T": custom_resource(N=2)})
        world.delete()

    assert world.reason("T", f"{kind.upper()}_FAILED", stack_id) == "Invalid PhysicalResourceId"


@pytest.mark.parametrize(
    ("failures", "sent", "text"), [(9, 3, "Update successful. One or more resources could not be deleted."), (1, 2, "")]
)
def test_a_delete_that_fails_in_the_clean_up_is_sent_up_to_three_times(
    world: World, functions: Functions, failures: int, sent: int, text: str
) -> None:
    world.deploy({"T": custom_resource(), "A": parameter("a")})
    failed = {"Status": "FAILED", "Reason": "stuck"}
    functions.replies["Delete"] = lambda _: failed if functions.kinds().count("Delete") <= failures else {}

    assert world.deploy({"A": parameter("a")}) == "UPDATE_COMPLETE"

    assert functions.kinds() == ["Create", *["Delete"] * sent]
    assert "stuck" in world.reason("T", "DELETE_FAILED")
    assert world.resources() == {"A"}
    assert world.reason("stack", "UPDATE_COMPLETE") == text
    assert (("T", "DELETE_COMPLETE") in world.events()) is (not text)


def test_the_function_behind_a_resource_cannot_be_changed(world: World, functions: Functions) -> None:
    world.deploy({"T": custom_resource()})
    other = custom_resource()
    other["Properties"]["ServiceToken"] += "-2"

    assert world.deploy({"T": other}) == "UPDATE_ROLLBACK_COMPLETE"
    assert world.reason("T", "UPDATE_FAILED") == "Modifying service token is not allowed."


def test_what_a_custom_resource_needs_outlives_its_delete(world: World, functions: Functions) -> None:
    world.deploy({"T": custom_resource() | {"DependsOn": "A"}, "A": parameter("a")})
    functions.silent_on("Delete")
    stack_id = world.stack()["StackId"]
    deletion = threading.Thread(target=world.delete)
    deletion.start()

    until(lambda: "Delete" in functions.kinds())
    assert world.parameters() == {"/a": "x"}
    functions.answer(functions.events[-1])
    deletion.join()

    assert (world.settled(stack_id), world.parameters()) == ("DELETE_COMPLETE", {})
