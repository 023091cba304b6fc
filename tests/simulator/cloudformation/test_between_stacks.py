"""Values that go from stack to stack: exports, which bind, and outputs that are only read."""

import re
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.simulator.cloudformation.conftest import World, parameter

pytestmark = pytest.mark.local


def _made(*, export: bool = False) -> dict[str, Any]:
    output: dict[str, Any] = {"Value": {"Fn::GetAtt": ["A", "Value"]}}
    return {"Outputs": {"O": output | ({"Export": {"Name": "shared"}} if export else {})}}


def _weak(stack: str = "maker", output: str = "O") -> dict[str, Any]:
    return {"Fn::GetStackOutput": {"StackName": stack, "OutputName": output}}


def test_an_export_in_use_can_neither_change_nor_go(world: World) -> None:
    export = _made(export=True)
    world.deploy({"A": parameter("a")}, "maker", template=export)
    world.deploy({"B": parameter("b", {"Fn::ImportValue": "shared"})}, "user")
    assert world.cloudformation.list_imports(ExportName="shared")["Imports"] == ["user"]

    assert world.deploy({"A": parameter("a", "new")}, "maker", template=export) == "UPDATE_ROLLBACK_COMPLETE"
    assert world.reason("maker", "UPDATE_ROLLBACK_IN_PROGRESS", "maker").startswith(
        "Export shared cannot be updated as it is in use by user"
    )
    assert world.delete("maker") == "UPDATE_ROLLBACK_COMPLETE"
    assert "Cannot delete export shared as it is in use by user" in world.stack("maker")["StackStatusReason"]

    world.delete("user")
    assert world.delete("maker") == "DELETE_COMPLETE"


def test_an_export_belongs_to_one_stack(world: World) -> None:
    world.deploy({"A": parameter("a")}, "maker", template=_made(export=True))

    assert world.deploy({"A": parameter("a2")}, "other", template=_made(export=True)) == "ROLLBACK_COMPLETE"
    assert "already exported by stack maker" in world.reason("other", "ROLLBACK_IN_PROGRESS", "other")


def test_another_stacks_output_is_read_without_binding_it(world: World) -> None:
    world.deploy({"A": parameter("a")}, "maker", template=_made())
    user = {"B": parameter("b", _weak())}
    world.deploy(user, "user")
    assert world.parameters()["/b"] == "x"

    world.deploy({"A": parameter("a", "new")}, "maker", template=_made())

    assert world.parameters()["/b"] == "x"
    with pytest.raises(ClientError, match=r"No updates are to be performed\."):
        world.deploy(user, "user")
    world.deploy({**user, "C": parameter("c")}, "user")
    assert world.parameters()["/b"] == "new"
    assert world.delete("maker") == "DELETE_COMPLETE"


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        (_weak("nobody"), "Fn::GetStackOutput: stack nobody does not exist in us-west-2"),
        (_weak("maker", "P"), "Fn::GetStackOutput: stack maker has no output P"),
    ],
)
def test_an_output_that_is_not_there_is_an_error(world: World, reference: dict[str, Any], reason: str) -> None:
    world.deploy({"A": parameter("a")}, "maker", template=_made())

    with pytest.raises(ClientError, match=re.escape(reason)):
        world.change_set({"B": parameter("b", reference)}, "user")


def test_an_import_that_is_not_there_fails_the_deployment(world: World) -> None:
    change_set = world.change_set({"B": parameter("b", {"Fn::ImportValue": "none"})}, "user")

    world.cloudformation.execute_change_set(ChangeSetName=change_set["ChangeSetId"])

    assert world.settled("user") == "ROLLBACK_COMPLETE"
    assert world.reason("B", "CREATE_FAILED", "user") == "No export named none found."
