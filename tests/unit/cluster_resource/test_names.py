"""Names follow only from the event, and are the same at every delivery."""

import re
from typing import Any

import pytest

from cluster_resource.event import Event, cluster_name, execution_name, physical_id, resource_hash
from tests.unit.cluster_resource.world import World, as_strings, group, properties, request


def name(world: World, **more: Any) -> str:
    event = Event.parse(world.event("Create", properties(**more)))
    return cluster_name(event, event.properties)


def test_the_name_is_the_prefix_and_a_hash_and_does_not_change_with_counts(world: World) -> None:
    assert re.fullmatch(r"reference-[0-9a-f]{12}", name(world))
    assert name(world) == name(world, wanted=request(group("other", 7)))


def test_the_order_of_subnets_and_groups_does_not_change_the_name(world: World) -> None:
    one = request()
    two = request()
    one["VpcConfig"]["Subnets"] = ["subnet-a", "subnet-b"]
    two["VpcConfig"]["Subnets"] = ["subnet-b", "subnet-a"]
    assert name(world, wanted=one) == name(world, wanted=two)


def test_another_network_resource_or_stack_changes_the_name(world: World) -> None:
    raw = world.event("Create", properties())
    events = [
        raw,
        {**raw, "LogicalResourceId": "Other"},
        {**raw, "StackId": raw["StackId"] + "0"},
        {**raw, "ResourceProperties": as_strings(properties(request(subnet="subnet-0bbbbbbbbbbbbbbb0")))},
    ]
    assert len({physical_id(Event.parse(event)) for event in events}) == len(events)


def test_a_long_prefix_gives_a_valid_name(world: World) -> None:
    made = name(world, NamePrefix="a" * 49 + "-" + "b" * 50)
    assert len(made) <= 63
    assert re.fullmatch(r"[a-zA-Z0-9](-*[a-zA-Z0-9])*", made)


@pytest.mark.fault(34)
def test_a_delete_with_a_generated_id_finds_the_name_of_its_create(world: World) -> None:
    create = Event.parse(world.event("Create", properties()))
    invented = f"{create.owner.stack_name}-{create.logical_id}-1K3ZQ7XW9ABCD"
    delete = Event.parse(world.event("Delete", properties(), physical_id=invented))
    assert delete.has_generated_id
    assert cluster_name(delete, delete.properties) == physical_id(create)
    assert not Event.parse(world.event("Delete", properties(), physical_id=physical_id(create))).has_generated_id


@pytest.mark.fault(26)
def test_an_execution_is_named_for_its_resource_and_its_request(world: World) -> None:
    one, two = (Event.parse(world.event("Update", properties(), physical_id="x")) for _ in range(2))
    assert execution_name(one) != execution_name(two)
    assert execution_name(one).split("-")[0] == execution_name(two).split("-")[0] == resource_hash(one)
    assert len(execution_name(one)) <= 80


def test_events_sort_by_the_date_of_their_signature(world: World) -> None:
    def issued(query: str) -> str:
        return Event.parse(world.event("Create", properties(), ResponseURL=f"https://bucket/x?{query}")).issued

    assert issued("X-Amz-Date=20261121T090000Z") < issued("X-Amz-Date=20261121T090001Z")
    assert issued("Expires=999999999") < issued("Expires=1510162268")
    assert issued("") == ""
